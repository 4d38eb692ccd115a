package parse

import (
	"path"
	"strings"
)

// filterWords are the commands of a pipeline that hide part of what they read.
var filterWords = wordSet("grep egrep fgrep rg zgrep xzgrep zstdgrep tail head awk gawk mawk sed cut uniq jq wc less more perl")

// aloneWords are the commands that hide part of a file that they read themselves.
var aloneWords = wordSet("grep egrep fgrep rg zgrep xzgrep zstdgrep tail head")

// filterRunners stand before a filter in a pipeline and run it.
var filterRunners = wordSet("sudo command stdbuf time timeout env nice unbuffer xargs { (")

// logTools print logs and have options that leave lines out.
var logTools = map[string][]string{
	"journalctl": {"-n", "--lines", "-p", "--priority", "-g", "--grep"},
	"kubectl":    {"--tail", "--limit-bytes"},
	"oc":         {"--tail", "--limit-bytes"},
	"docker":     {"--tail", "-n"},
	"podman":     {"--tail"},
	"stern":      {"--tail", "-i", "--include", "-e", "--exclude"},
	"dmesg":      {"-l", "--level"},
}

// commandFilter returns what the output of a command went through, with
// arguments: the greps, heads and tails of its pipeline, the options that leave
// lines of a log out, and what was thrown away (">/dev/null").
func commandFilter(argv string) string { return filterOf(argv, 0, true) }

// pipeFilter returns the filters of a pipeline alone.
func pipeFilter(argv string) string { return filterOf(argv, 0, false) }

func filterOf(argv string, depth int, all bool) string {
	var out []string
	segments(argv, func(seg string, pipe bool) {
		seg, null := cutNull(seg)
		inner := innerCommand(seg)
		switch f := filterSegment(seg); {
		case pipe && f != "":
			out = append(out, f)
		case inner != "" && depth < 3:
			if f := filterOf(inner, depth+1, all); f != "" {
				out = append(out, f)
			}
			if all && depth == 0 {
				out = appendOptions(out, seg, inner)
			}
		case !pipe && all:
			out = appendAlone(out, seg)
		}
		if all && null != "" {
			out = append(out, null)
		}
	})
	return strings.Join(out, " | ")
}

// filterSegment returns the filter that a stage of a pipeline is, without what
// runs it; "" if it is none.
func filterSegment(seg string) string {
	for range 4 {
		word, rest, _ := strings.Cut(seg, " ")
		switch word = strings.TrimLeft(word, "({"); {
		case filterWords[path.Base(word)]:
			return strings.TrimRight(strings.TrimLeft(seg, "({ "), " )};")
		case word == "" || filterRunners[path.Base(word)] || word[0] >= '0' && word[0] <= '9' || word[0] == '-' || isAssignment([]byte(word)) && strings.Contains(word, "="):
			seg = strings.TrimSpace(rest)
		default:
			return ""
		}
	}
	return ""
}

// appendAlone adds a filter that reads a file itself, "tail -50 server.log", and
// the options of a tool that prints logs. Following a file hides only what stood
// in it before.
func appendAlone(out []string, seg string) []string {
	words := strings.Fields(seg)
	i := skipWrappers(words)
	if i >= len(words) {
		return out
	}
	base := path.Base(words[i])
	switch {
	case !aloneWords[base] || len(words) < i+2:
	case base == "tail" && followsFile(words[i+1:]):
	default:
		return append(out, strings.Join(words[i:], " "))
	}
	return appendOptions(out, seg, "")
}

// followsFile reports whether tail goes on with a file, with no number of lines
// to begin with.
func followsFile(args []string) bool {
	follow := false
	for _, a := range args {
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		if strings.ContainsAny(a, "0123456789") || a == "-n" || a == "-c" {
			return false
		}
		follow = follow || a == "--follow" || a[1] != '-' && strings.ContainsAny(a, "fF")
	}
	return follow
}

// appendOptions adds the options of journalctl, kubectl logs and their like that
// leave lines out. inner is the command that seg runs elsewhere, of which they
// are not the options.
func appendOptions(out []string, seg, inner string) []string {
	if inner != "" {
		seg = strings.TrimSuffix(seg, inner)
	}
	words := strings.Fields(seg)
	i := skipWrappers(words)
	if i >= len(words) {
		return out
	}
	tool := path.Base(strings.Trim(words[i], `'"`))
	options := logTools[tool]
	if options == nil || (tool == "kubectl" || tool == "docker" || tool == "podman" || tool == "oc") && !hasWord(words, "logs") {
		return out
	}
	for j := i + 1; j < len(words); j++ {
		for _, o := range options {
			name, value, joined := strings.Cut(words[j], "=")
			short := len(o) == 2 && strings.HasPrefix(words[j], o) && len(words[j]) > 2
			if name != o && !short {
				continue
			}
			f := words[j]
			if !joined && !short && j+1 < len(words) {
				value = words[j+1]
				f += " " + value
			}
			if value != "-1" && value != "all" {
				out = append(out, f)
			}
			break
		}
	}
	return out
}

func hasWord(words []string, w string) bool {
	for _, x := range words {
		if x == w {
			return true
		}
	}
	return false
}

// cutNull removes the redirections of a command, and returns those that throw
// output away as one text, such as "2>/dev/null".
func cutNull(seg string) (rest, null string) {
	i := strings.Index(seg, "/dev/null")
	if i <= 0 || strings.HasSuffix(strings.TrimRight(seg[:i], " "), "<") {
		return seg, ""
	}
	j := i
	for j > 0 && (seg[j-1] == ' ' || seg[j-1] == '>') {
		j--
	}
	if !strings.Contains(seg[j:i], ">") {
		return seg, ""
	}
	for j > 0 && (seg[j-1] == '&' || seg[j-1] >= '0' && seg[j-1] <= '9' && (j == 1 || seg[j-2] == ' ')) {
		j--
	}
	null = strings.ReplaceAll(seg[j:i], " ", "") + "/dev/null"
	return strings.TrimSpace(seg[:j]), null
}
