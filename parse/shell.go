package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// shell reads transcripts, traces of `set -x`, launch scripts and what shells
// and their tools print around a run: deaths of jobs, exit codes, missing files,
// process lists.
type shell struct {
	cmd     forensics.Event // command whose last line ended in a backslash
	argv    []byte
	open    bool
	before  string // the command before the last
	last    string // the command seen last
	lastAt  int    // and its last line
	tool    string // what the lines below the last command are from
	toolAt  int
	columns []string // of the process table under way
	script  bool     // within a script's text: lines are commands without a prompt
	heredoc string   // the word that ends a here-document
	prompts int      // commands seen behind a prompt
	rows    int      // of process lists
}

const (
	maxCommand = 8 << 10
	// maxPrompt is how far into a line a prompt may reach.
	maxPrompt = 120
)

func (r *shell) end(s *scan) { r.flush(s) }

func (r *shell) line(l *line, s *scan) int {
	if l.style != styleNone && l.style != styleISO && l.style != styleSyslog {
		r.script = false
		r.flush(s)
		return 0
	}
	t := bytes.TrimRight(l.text, " \t")
	if r.open {
		if l.pos.Line == r.lastAt+1 {
			return r.more(t, l, s)
		}
		r.flush(s)
	}
	if len(t) == 0 {
		return 0
	}
	if cmd, prompt := afterPrompt(t); prompt {
		r.script, r.heredoc = false, ""
		r.prompts++
		return r.command(cmd, l, s)
	}
	if r.heredoc != "" || r.script {
		if v := r.scriptLine(t, l, s); v != 0 {
			return v
		}
	}
	if v := r.output(t, l, s); v != 0 {
		if s.ev.Kind == forensics.KindProc {
			r.rows++
		}
		return v
	}
	if bytes.HasPrefix(t, []byte("#!")) && l.pos.Line == 1 {
		r.script = true
		return s.quiet(l, 3)
	}
	return r.launch(t, l, s)
}

// commandWords are commands after "# ", which begins a comment more often than
// it is root's prompt.
var commandWords = wordSet(`nvidia-smi pgrep ps ss lsof netstat curl ls cat tail head grep egrep rg awk sed journalctl
	dmesg systemctl docker kubectl python python3 vllm sglang bash sh exit cd export ulimit free df uptime date kill
	pkill top htop ssh srun sbatch scancel squeue sacct nohup timeout sudo env echo wc du mount id hostname uname`)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// afterPrompt returns the command behind a prompt: "$ ", "# ", "+ " of set -x,
// "user@host:~$ ", "(env) root@host:/# ", "[user@host dir]$ ", "bash-5.1$ ".
func afterPrompt(t []byte) (cmd []byte, ok bool) {
	switch c := t[0]; {
	case c == '$':
		if len(t) == 1 {
			return nil, true
		}
		return t[1:], t[1] == ' ' && len(t) > 2
	case c == '#':
		if len(t) < 3 || t[1] != ' ' {
			return nil, false
		}
		word, _ := cutWord(t[2:])
		return t[2:], commandWords[string(word)]
	case c == '+':
		rest := bytes.TrimLeft(t, "+")
		if len(rest) < 2 || rest[0] != ' ' || len(t)-len(rest) > 4 {
			return nil, false
		}
		word, more := cutWord(rest)
		return rest[1:], isCommandWord(word) && !bytes.HasPrefix(more, []byte("Group Traceback"))
	case c == '(' || c == '[' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return afterHostPrompt(t)
	}
	return nil, false
}

// isCommandWord accepts what may stand first in a command of set -x.
func isCommandWord(w []byte) bool {
	for _, c := range w {
		if !isWordByte(c) && bytes.IndexByte([]byte("./-+=[:'\"$~%@,"), c) < 0 {
			return false
		}
	}
	return len(w) > 0
}

// afterHostPrompt reads prompts that name the user and host, or a container.
func afterHostPrompt(t []byte) (cmd []byte, ok bool) {
	head := t[:min(len(t), maxPrompt)]
	inner := head
	for len(inner) > 2 && inner[0] == '(' { // environments: "(base) "
		i := bytes.Index(inner, []byte(") "))
		if i < 0 || bytes.ContainsAny(inner[1:i], " =") {
			return nil, false
		}
		inner = inner[i+2:]
	}
	if len(inner) == 0 {
		return nil, false
	}
	bare := len(inner) < len(head) && (inner[0] == '#' || inner[0] == '$')
	at := bytes.IndexByte(inner, '@')
	if !bare && (at <= 0 || at > 40) && !bytes.HasPrefix(inner, []byte("bash-")) && !bytes.HasPrefix(inner, []byte("sh-")) {
		return nil, false
	}
	end := bytes.IndexAny(inner, "$#%")
	if end < 0 {
		return nil, false
	}
	who := inner[:end]
	switch {
	case len(who) > 0 && who[0] == '[': // [user@host dir]$
		who = bytes.TrimSuffix(who[1:], []byte("]"))
		if bytes.Count(who, []byte(" ")) > 1 {
			return nil, false
		}
	case inner[end] == '%': // zsh: user@host dir %
		if bytes.Count(who, []byte(" ")) != 2 {
			return nil, false
		}
	case bytes.IndexByte(who, ' ') >= 0:
		return nil, false
	}
	if at > 0 && at < end && !isCommandWord(bytes.TrimLeft(inner[:at], "[")) {
		return nil, false
	}
	rest := t[len(head)-len(inner)+end+1:]
	return bytes.TrimLeft(rest, " "), len(rest) == 0 || rest[0] == ' '
}

// command begins a command that stood behind a prompt.
func (r *shell) command(cmd []byte, l *line, s *scan) int {
	r.tool, r.columns = "", nil
	cmd = bytes.TrimSpace(cmd)
	if len(cmd) == 0 {
		return s.quiet(l, 3)
	}
	e := s.event(l, forensics.KindCommand)
	e.Format = formats[s.current].name
	r.cmd = *e.Clone()
	r.argv = append(r.argv[:0], cmd...)
	r.open, r.lastAt = true, l.pos.Line
	r.carryOn(s)
	return 3
}

// more appends the next line of a command.
func (r *shell) more(t []byte, l *line, s *scan) int {
	r.lastAt = l.pos.Line
	r.cmd.Lines++
	if len(r.argv)+len(t) < maxCommand {
		r.argv = append(append(r.argv, ' '), bytes.TrimPrefix(bytes.TrimLeft(t, " \t"), []byte("> "))...)
	}
	r.cmd.Hits = append(r.cmd.Hits, cloneHits(l.hits)...)
	r.carryOn(s)
	return 3
}

func cloneHits(hits []forensics.Hit) []forensics.Hit {
	var out []forensics.Hit
	for _, h := range hits {
		h.Text = strings.Clone(h.Text)
		out = append(out, h)
	}
	return out
}

// carryOn waits for the next line if the command goes on there.
func (r *shell) carryOn(s *scan) {
	if n := len(r.argv); n > 0 && r.argv[n-1] == '\\' && r.cmd.Lines < 200 {
		r.argv = bytes.TrimRight(r.argv[:n-1], " ")
		s.own()
		return
	}
	r.flush(s)
}

// flush emits the command under way.
func (r *shell) flush(s *scan) {
	if !r.open {
		return
	}
	r.open = false
	r.before, r.last = r.last, string(r.argv)
	e := &r.cmd
	put(e, "argv", r.last)
	put(e, "filter", commandFilter(r.last))
	put(e, "starts", commandStarts(r.last))
	r.tool, r.toolAt = outputTool(r.last), r.lastAt
	r.heredoc = hereWord(r.last)
	r.tell(s, r.last, r.lastAt)
	s.emit(e)
}

// tell hands a query of nvidia-smi to the reader of its output.
func (r *shell) tell(s *scan, argv string, at int) {
	if !strings.Contains(argv, "--query-") {
		return
	}
	for _, other := range s.readers {
		if g, ok := other.(*gpuCSV); ok {
			g.asked(argv, at)
		}
	}
}

// hereWord returns the word that ends a here-document, "" if the command has
// none.
func hereWord(argv string) string {
	_, rest, ok := strings.Cut(argv, "<<")
	if !ok || strings.HasPrefix(rest, "<") {
		return ""
	}
	word, _, _ := strings.Cut(strings.Trim(rest, "- "), " ")
	return strings.Trim(word, `'"\`)
}

// scriptLine reads a line of a script or here-document: a command without a
// prompt.
func (r *shell) scriptLine(t []byte, l *line, s *scan) int {
	if r.heredoc != "" && string(bytes.TrimSpace(t)) == r.heredoc {
		r.heredoc = ""
		return s.quiet(l, 1)
	}
	if l.pos.Line > r.lastAt+200 && !r.script {
		r.heredoc = ""
		return 0
	}
	body := bytes.TrimLeft(t, " \t")
	if len(body) == 0 || body[0] == '#' {
		return s.quiet(l, 1)
	}
	here, script := r.heredoc, r.script
	argv := string(body)
	if commandStarts(argv) == "" && pipeFilter(argv) == "" && body[len(body)-1] != '\\' {
		return s.quiet(l, 1)
	}
	v := r.command(body, l, s)
	r.heredoc, r.script = here, script
	return v
}

// launch reads a line that starts a server or client without a prompt before
// it: scripts' echoes, and notes of how something was run.
func (r *shell) launch(t []byte, l *line, s *scan) int {
	if c := t[0]; c < 'A' || c > 'z' || c > 'Z' && c < 'a' || len(t) > maxCommand {
		return 0
	}
	word, _ := cutWord(t)
	if !launchWords[string(word)] && (bytes.IndexByte(word, '=') <= 0 || !isAssignment(word)) {
		return 0
	}
	argv := string(t)
	if commandStarts(argv) == "" && !strings.HasSuffix(argv, `\`) {
		return 0
	}
	return r.command(t, l, s)
}

var launchWords = wordSet("python python3 vllm sglang nohup exec srun docker podman trtllm-serve llama-server text-generation-launcher tritonserver guidellm genai-perf aiperf ssh mpirun torchrun timeout env")

// isAssignment accepts "CUDA_VISIBLE_DEVICES=0,1".
func isAssignment(w []byte) bool {
	name, _, _ := bytes.Cut(w, []byte("="))
	for _, c := range name {
		if c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// output reads what a command printed.
func (r *shell) output(t []byte, l *line, s *scan) int {
	for _, read := range shellOutputs {
		if v := read(r, t, l, s); v != 0 {
			return v
		}
	}
	if r.tool != "" && quietTools[r.tool] && l.pos.Line == r.toolAt+1 && l.style == styleNone {
		r.toolAt = l.pos.Line
		return s.quiet(l, 1)
	}
	return 0
}

// shellOutputs are the readers of output, each with a cheap first test.
var shellOutputs = []func(*shell, []byte, *line, *scan) int{
	(*shell).status, (*shell).death, (*shell).missing, (*shell).exitCode, (*shell).process, (*shell).socket, (*shell).fact, (*shell).date,
}

// quietTools print nothing that the run depends on.
var quietTools = wordSet("df free uptime ls ulimit systemctl which uname hostname id lscpu nproc du wc")

// status reads the number that `echo $?` prints, and the code of curl -w
// '%{http_code}'.
func (r *shell) status(t []byte, l *line, s *scan) int {
	if len(t) > 3 || r.last == "" || l.pos.Line != r.lastAt+1 || digits(t, 0, len(t)) < 0 {
		if l.pos.Line == r.lastAt+1 && r.tool == "ulimit" {
			return r.limit(t, l, s)
		}
		return 0
	}
	switch {
	case strings.Contains(r.last, "echo $?") || strings.Contains(r.last, `echo "$?"`):
		e := s.event(l, forensics.KindExit)
		what := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(r.last), "echo $?"), `echo "$?"`))
		if what = strings.TrimRight(what, "; "); what == "" {
			what = r.before
		}
		putCode(e, t)
		put(e, "what", roleOr(what))
		s.emit(e)
		return 10
	case strings.Contains(r.last, "%{http_code}"):
		e := s.event(l, forensics.KindEnv)
		put(e, "http_code", view(t))
		s.emit(e)
		return 10
	case r.tool == "ulimit":
		return r.limit(t, l, s)
	}
	return 0
}

// limit reads the answer of `ulimit -n`.
func (r *shell) limit(t []byte, l *line, s *scan) int {
	_, flag, ok := strings.Cut(r.last, "ulimit -")
	if !ok || len(flag) == 0 || len(t) > 12 {
		return 0
	}
	if _, err := strconv.Atoi(string(t)); err != nil && string(t) != "unlimited" {
		return 0
	}
	e := s.event(l, forensics.KindEnv)
	put(e, "ulimit_"+flag[:1], view(t))
	s.emit(e)
	return 10
}

// roleOr returns "server" or "client" for a command that starts one, and else
// the command.
func roleOr(argv string) string {
	if role := commandStarts(argv); role != "" {
		return role
	}
	return argv
}
