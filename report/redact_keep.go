package report

import (
	"net/netip"
	"slices"
	"strings"
)

// redactedMark begins the mask of a secret.
const redactedMark = "REDACTED-"

// isNoSecret tells values that say that there is no secret.
func isNoSecret(v string) bool {
	switch strings.ToLower(v) {
	case "none", "null", "nil", "true", "false", "str", "int", "string", "optional", "empty", "unset", "not", "set", "|":
		return true
	}
	return strings.Trim(v, "*x.<>$") == "" || len(v) < 3 || strings.HasPrefix(v, "$") || strings.HasPrefix(v, "</")
}

// secretWords are the texts one of which every name of a secret holds. "token" and
// "key" alone stand in every second line of a server's log.
func secretWords() []string {
	words := []string{"secret", "passw", "passphrase", "credential"}
	for _, sep := range []string{"", "_", "-"} {
		for _, w := range []string{"access", "auth", "refresh", "hf", "hub", "session", "id", "github", "gitlab", "slack", "bot"} {
			words = append(words, w+sep+"token")
		}
		words = append(words, "api"+sep+"key", "private"+sep+"key", "account"+sep+"key")
	}
	return words
}

// hasQuad reports whether s has four numbers with dots between them.
func hasQuad(s string) bool {
	dots, digit := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if digit = true; dots == 3 {
				return true
			}
		case c == '.' && digit:
			dots, digit = dots+1, false
		default:
			dots, digit = 0, false
		}
	}
	return false
}

// isNoKeyLine tells a digest or a path from a line of a key, which mixes letters of
// both cases with digits.
func isNoKeyLine(v string) bool {
	const digits, lower = "0123456789", "abcdefghijklmnopqrstuvwxyz"
	return !strings.ContainsAny(v, digits) || !strings.ContainsAny(v, lower) || !strings.ContainsAny(v, strings.ToUpper(lower))
}

// isPlainWord tells an English word where a token is looked for.
func isPlainWord(v string) bool {
	return len(v) < 20 && strings.Trim(v, "abcdefghijklmnopqrstuvwxyz.-") == ""
}

// isNoPrompts tells a list of numbers, or of masks, where prompts are looked for.
func isNoPrompts(v string) bool {
	return strings.Trim(v, "0123456789,. -\t") == "" || isPseudonym(strings.Trim(v, `"`))
}

// isPseudonym tells what a rule itself put in.
func isPseudonym(v string) bool {
	for _, n := range []string{"user", "host", "ip", "path", "prompt", "mac"} {
		if d, ok := strings.CutPrefix(v, n+"-"); ok && d != "" && allDigits(d) {
			return true
		}
	}
	return strings.HasPrefix(v, redactedMark)
}

// commonUsers are names that say nothing about a person, and words that stand
// where a name is looked for.
var commonUsers = []string{
	"root", "user", "users", "ubuntu", "admin", "nobody", "none", "null", "true", "false", "debian", "centos", "ec2-user",
	"name", "assistant", "system", "server", "client", "bench", "model", "models", "default", "is", "was", "not", "request",
	"slurm", "daemon", "postgres", "git", "test", "data", "main", "shared", "vllm", "sglang", "python", "jovyan", "runner",
	"the", "and", "error", "failed", "input", "output", "prompt", "content", "message", "messages", "space", "mode", "id",
}

func isCommonUser(v string) bool {
	return len(v) < 3 || slices.Contains(commonUsers, strings.ToLower(v)) || strings.HasSuffix(v, ".service") || isPseudonym(v)
}

// publicDomains hold nothing about the reader's own machines.
var publicDomains = []string{
	"github.com", "githubusercontent.com", "huggingface.co", "hf.co", "pytorch.org", "nvidia.com", "python.org", "pypi.org",
	"vllm.ai", "sglang.ai", "lmsys.org", "openai.com", "docker.io", "quay.io", "gcr.io", "nvcr.io", "ghcr.io", "kernel.org",
	"ubuntu.com", "debian.org", "anaconda.com", "conda.io", "readthedocs.io", "ray.io", "pydantic.dev", "tensorflow.org",
	"modelscope.cn", "aiohttp.org", "opentelemetry.io", "kubernetes.io", "k8s.io", "apache.org", "google.com", "microsoft.com",
	"stackoverflow.com", "intel.com", "amd.com", "json-schema.org", "w3.org", "wandb.ai", "prometheus.io", "flashinfer.ai",
}

func isPublicHost(v string) bool {
	v = strings.ToLower(v)
	if v == "localhost" || v == "sha256" || strings.HasPrefix(v, "localhost.") || isPseudonym(v) || strings.HasSuffix(v, ".service") {
		return true
	}
	for _, d := range publicDomains {
		if v == d || strings.HasSuffix(v, "."+d) {
			return true
		}
	}
	return false
}

// isAttribute tells a name of a program ("threading.local", "self.net") from a
// host: it has one dot and nothing that hosts have.
func isAttribute(v string) bool {
	if first, _, _ := strings.Cut(v, "."); allDigits(first) {
		return true // a version: 0.6.4.dev
	}
	tail := v[strings.LastIndexByte(v, '.')+1:]
	switch tail {
	case "local", "net", "io", "ai", "dev", "internal", "cluster", "cloud", "org", "corp", "lan", "intra", "example":
		return strings.Count(v, ".") == 1 && !strings.ContainsAny(v, "0123456789-")
	}
	return false
}

// hostWords are values of a host option that name no host.
var hostWords = []string{
	"none", "null", "true", "false", "localhost", "unknown", "all", "any", "auto", "error", "warning", "info", "debug", "is", "not",
	"str", "int", "optional", "self", "port", "memory", "kernel", "cpu", "gpu", "cuda", "pinned", "device", "default",
}

func isNoHost(v string) bool {
	return len(v) < 3 || slices.Contains(hostWords, strings.ToLower(v)) || isPublicHost(v)
}

func isLocalIP(v string) bool {
	a, err := netip.ParseAddr(v)
	return err != nil || a.IsLoopback() || a.IsUnspecified() || v == "255.255.255.255"
}

// isNoIPv6 tells what only looks like an address: times, C++ names, short forms.
func isNoIPv6(v string) bool {
	return isLocalIP(v) || !strings.ContainsAny(v, "0123456789") || len(v) < 6
}

// publicOrgs publish models under their name, so that the name of a model of
// theirs tells nothing and helps everyone who reads the report.
var publicOrgs = []string{
	"meta-llama", "qwen", "deepseek-ai", "mistralai", "google", "openai", "moonshotai", "zai-org", "thudm", "nvidia", "microsoft",
	"facebook", "huggingfaceh4", "huggingface", "unsloth", "neuralmagic", "redhatai", "baichuan-inc", "internlm", "opengvlab",
	"tiiuae", "bigcode", "bigscience", "eleutherai", "openbmb", "01-ai", "allenai", "ibm-granite", "cohereforai", "coherelabs",
	"lmsys", "intfloat", "baai", "minimaxai", "xiaomimimo", "stepfun-ai", "tencent", "baidu", "inclusionai", "llava-hf",
	"hugging-quants", "casperhansen", "thebloke", "nousresearch", "databricks", "ai21labs", "xai-org", "jinaai", "gpt2", "sglang",
	"lmsys-org", "kimi", "amd", "black-forest-labs", "liuhaotian", "yuhuili", "jukofyork", "bytedance", "bytedance-seed",
}

func isPublicModel(v string) bool {
	v = strings.TrimPrefix(v, "models--")
	org, _, _ := strings.Cut(strings.ReplaceAll(v, "--", "/"), "/")
	return slices.Contains(publicOrgs, strings.ToLower(org)) || isPseudonym(strings.Trim(v, "/"))
}

// pathMarks begin the part of a path that belongs to a package and not to a
// person. What stands behind them is what the diagnosis reads.
var pathMarks = []string{
	"/site-packages/", "/dist-packages/", "/lib/python", "/sglang/", "/vllm/", "/torch/", "/flashinfer/", "/transformers/",
	"/triton/", "/ray/", "/nccl/", "/flash_attn/", "/csrc/", "/lib64/",
}

// keptNames end the names of files that are kept: they say what kind of file it
// was, and seldom whose.
var keptNames = []string{
	".py", ".so", ".json", ".safetensors", ".bin", ".model", ".log", ".txt", ".cu", ".cuh", ".cpp", ".h", ".sh", ".yaml", ".jsonl", ".pt", ".gguf",
}

// keptTail is the end of a path that may stay, with its slash: the part within a
// package, or the name, of a file of a known kind.
func keptTail(path string) string {
	base := path[max(0, strings.LastIndexByte(path, '/')):]
	if !slices.ContainsFunc(keptNames, func(end string) bool { return strings.HasSuffix(base, end) }) && !strings.Contains(base, ".so.") {
		return ""
	}
	best := len(path) - len(base)
	for _, m := range pathMarks {
		if i := strings.Index(path, m); i >= 0 {
			best = min(best, i)
		}
	}
	return path[best:]
}
