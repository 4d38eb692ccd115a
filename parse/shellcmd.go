package parse

import (
	"path"
	"strings"
)

// starters are words that only commands starting a server or a client hold.
var starters = []struct{ needle, role string }{
	{"bench_serving", "client"}, {"vllm bench", "client"}, {"benchmark_serving", "client"}, {"guidellm", "client"},
	{"genai-perf", "client"}, {"aiperf", "client"}, {"sglang.bench_", "client"}, {"benchmark_throughput", "client"},
	{"sglang.launch_server", "server"}, {"sglang serve", "server"}, {"vllm serve", "server"},
	{"api_server", "server"}, {"trtllm-serve", "server"}, {"llama-server", "server"},
	{"text-generation-launcher", "server"}, {"tritonserver", "server"}, {"vllm/vllm-openai", "server"},
}

// searchers are commands that name a server without being one.
var searchers = wordSet(`pgrep grep egrep fgrep rg zgrep ps pkill kill killall awk gawk sed tail head less more cat vim vi nano
	which whereis pip pip3 uv ls find top htop nvtop lsof ss netstat tee echo printf man watch docker-logs wc stat
	systemctl journalctl strace py-spy gdb cp mv rm mkdir touch diff git`)

// wrapperWords stand before a command and run it.
var wrapperWords = wordSet("sudo nohup time exec env setsid nice stdbuf do then else if while { ( ! command")

// segments cuts a command line into simple commands, at ; & | and their doubles,
// outside quotes. pipe tells whether a segment reads from the one before it.
func segments(argv string, fn func(seg string, pipe bool)) {
	start, quote, pipe := 0, byte(0), false
	for i := 0; i < len(argv); i++ {
		c := argv[i]
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			quote = c
		case c == '&' && (i > 0 && argv[i-1] == '>' || i+1 < len(argv) && argv[i+1] == '>'):
			// a redirection: 2>&1, &>file
		case c == ';' || c == '|' || c == '&':
			fn(strings.TrimSpace(argv[start:i]), pipe)
			double := i+1 < len(argv) && argv[i+1] == c
			pipe = c == '|' && !double
			if double || pipe && i+1 < len(argv) && argv[i+1] == '&' {
				i++
			}
			start = i + 1
		}
	}
	if start <= len(argv) {
		fn(strings.TrimSpace(argv[min(start, len(argv)):]), pipe)
	}
}

// innerCommand returns the command that ssh, docker exec or a shell's -c runs.
func innerCommand(seg string) string {
	words := strings.Fields(seg)
	i := skipWrappers(words)
	if i >= len(words) {
		return ""
	}
	switch path.Base(words[i]) {
	case "ssh":
		if j := strings.IndexAny(seg, `'"`); j >= 0 {
			return strings.Trim(seg[j:], `'"`)
		}
		return skipOptions(words[i+1:], 1)
	case "bash", "sh", "zsh", "dash":
		if _, inner, ok := strings.Cut(seg, "-c "); ok {
			return strings.Trim(strings.TrimSpace(inner), `'"`)
		}
		if _, inner, ok := strings.Cut(seg, "-lc "); ok {
			return strings.Trim(strings.TrimSpace(inner), `'"`)
		}
	case "kubectl", "docker", "podman", "srun":
		if _, inner, ok := strings.Cut(seg, " -- "); ok {
			return strings.TrimSpace(inner)
		}
		return dockerExec(seg, words[i:])
	}
	return ""
}

// dockerExec returns the command behind `docker exec [options] container`.
func dockerExec(seg string, words []string) string {
	if len(words) < 4 || words[1] != "exec" {
		return ""
	}
	for j := 2; j < len(words)-1; j++ {
		switch w := words[j]; {
		case w == "-e" || w == "-u" || w == "-w" || w == "--env" || w == "--user" || w == "--workdir":
			j++
		case w[0] == '-':
		default:
			_, inner, _ := strings.Cut(seg, " "+w+" ")
			return strings.TrimSpace(inner)
		}
	}
	return ""
}

// skipOptions joins the words behind n words that are no options.
func skipOptions(words []string, n int) string {
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			continue
		}
		if n == 0 {
			return strings.Join(words[i:], " ")
		}
		n--
	}
	return ""
}

// skipWrappers returns the index of the word that is really run.
func skipWrappers(words []string) int {
	for i := 0; i < len(words); i++ {
		w := strings.TrimLeft(words[i], "({'\"")
		switch base := path.Base(w); {
		case w == "" || wrapperWords[w] || wrapperWords[base]:
		case strings.IndexByte(w, '=') > 0 && isAssignment([]byte(w)):
		case base == "timeout":
			for i+1 < len(words) && (words[i+1][0] == '-' || words[i+1][0] >= '0' && words[i+1][0] <= '9') {
				i++
			}
		case i > 0 && strings.HasPrefix(w, "-") && wrapperWords[path.Base(words[i-1])]:
		default:
			return i
		}
	}
	return len(words)
}

// commandStarts says whether a command starts a "server" or a "client".
func commandStarts(argv string) string { return startsOf(argv, 0) }

func startsOf(argv string, depth int) string {
	role := ""
	segments(argv, func(seg string, _ bool) {
		words := strings.Fields(seg)
		i := skipWrappers(words)
		if role != "" || i >= len(words) || searchers[path.Base(strings.TrimLeft(words[i], `'"({`))] {
			return
		}
		if inner := innerCommand(seg); inner != "" && depth < 3 {
			role = startsOf(inner, depth+1)
			return
		}
		run := strings.Join(words[i:], " ")
		for _, st := range starters {
			if strings.Contains(run, st.needle) {
				role = st.role
				return
			}
		}
		if base := path.Base(words[i]); (base == "docker" || base == "podman") && strings.Contains(run, " --model") &&
			(strings.Contains(run, "vllm") || strings.Contains(run, "sglang")) {
			role = "server" // an image of one's own, whose entry point is the server
		}
		if path.Base(words[i]) == "curl" && (strings.Contains(run, "/completions") || strings.Contains(run, "/generate")) {
			role = "client"
		}
	})
	return role
}

// outputTool names the tool that prints what follows a command.
func outputTool(argv string) string {
	tool := ""
	segments(argv, func(seg string, pipe bool) {
		if pipe || tool != "" {
			return
		}
		if inner := innerCommand(seg); inner != "" {
			tool = firstTool(inner)
			return
		}
		tool = firstTool(seg)
	})
	return tool
}

func firstTool(seg string) string {
	words := strings.Fields(seg)
	i := skipWrappers(words)
	if i >= len(words) {
		return ""
	}
	return path.Base(strings.Trim(words[i], `'"`))
}

// engineNames are programs that are engines, and the beginnings of the names
// that engine processes give themselves.
var engineNames = []string{"python", "sglang", "vllm", "VLLM::", "trtllm-serve", "tritonserver", "llama-server", "text-generation-"}

// isSearch reports whether a process only looks for the server: the search
// itself shows up in its own result, or the shell that runs it.
func isSearch(argv string) bool {
	words := strings.Fields(argv)
	i := skipWrappers(words)
	if i >= len(words) {
		return false
	}
	base := path.Base(words[i])
	if searchers[base] || base == "curl" {
		return true
	}
	switch base {
	case "bash", "sh", "zsh", "dash", "ssh", "-bash", "kubectl", "docker":
		if strings.Contains(argv, "pgrep") || strings.Contains(argv, "pkill") {
			return true
		}
		return commandStarts(argv) == "" && (strings.Contains(argv, "grep ") || strings.Contains(argv, "ps aux") || strings.Contains(argv, "ps -ef"))
	}
	return false
}

// isEngine reports whether a process row is an engine's.
func isEngine(argv string) bool {
	word, _, _ := strings.Cut(argv, " ")
	base := path.Base(word)
	for _, n := range engineNames {
		if strings.HasPrefix(base, n) || strings.HasPrefix(word, n) {
			return commandStarts(argv) != "client"
		}
	}
	return false
}
