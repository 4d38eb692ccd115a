package report

import "strings"

// The rules that find what must not be shared, as data. Each rule proves itself:
// a test masks every hit and leaves every miss alone.
//
// A rule file of our own stands in for the one of gitleaks, which was measured and
// turned down: 200 modules, net/http, 9 MB and 33 ms at each start, for rules of
// which some twenty can occur in the logs of an inference server.

// redactRule finds one kind of text.
type redactRule struct {
	kind string
	// name is the prefix of a stable pseudonym ("host" gives host-1). Rules
	// without one are for secrets, which are masked at every level.
	name string
	// words are lower-case texts one of which must occur, so that most lines
	// are not searched. None means every line is.
	words []string
	// quick may say that the pattern cannot match, for texts that words do not tell.
	quick func(s string) bool
	// pattern finds it; the first group that took part is what is masked, or the
	// whole match if there is no group.
	pattern string
	// keep tells values that the pattern finds and that may stay.
	keep func(value string) bool
	// learn says that the value is masked wherever else it stands, too.
	learn bool
	// mask replaces the usual mask.
	mask func(r *Redactor, value string) string

	hits   []string // "text => value that is masked"
	misses []string
}

// Parts of patterns. A value is quoted, or ends where an argument ends.
const (
	redactQuoted = `'((?:[^'\\]|\\.)+)(?:'|$)|"((?:[^"\\]|\\.)+)(?:"|$)|\\"((?:[^"\\]|\\[^"])+)\\"`
	redactBare   = `([^\s'",;(){}\[\]\\]+)`
	redactAssign = `\\?["']?\s*(?:=>|[:=])\s*(?:` + redactQuoted + `|` + redactBare + `)`
	secretNames  = `(?:[a-z0-9]+[_-])*(?:api[_-]?key|apikey|secret(?:[_-]?(?:access)?[_-]?key)?|client[_-]?secret|passw(?:or)?d|passwd|passphrase` +
		`|(?:access|auth|refresh|hf|hub|session|id|github|gitlab|slack|bot)[_-]?token|private[_-]?key|account[_-]?key|credentials?)`
)

var redactRules = []redactRule{
	{
		kind: "private-key", words: []string{"private key"},
		pattern: `-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(.+?)(?:-----END|$)`,
		keep:    func(v string) bool { return len(v) < 8 },
		hits:    []string{`key: -----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\n-----END RSA PRIVATE KEY----- => \nMIIEowIBAAKCAQEA7\n`},
		misses:  []string{"-----BEGIN PUBLIC KEY-----MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A-----END PUBLIC KEY-----", "could not load private key"},
	},
	{
		// A line inside a key, quoted on its own.
		kind:    "private-key",
		pattern: `^\s*([A-Za-z0-9+/]{60,}={0,2})\s*$`,
		keep:    isNoKeyLine,
		hits:    []string{"MIIEowIBAAKCAQEA7abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR0123 => MIIEowIBAAKCAQEA7abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR0123"},
		misses:  []string{strings.Repeat("0123456789abcdef", 4), strings.Repeat("/models", 12)},
	},
	{
		kind: "hf-token", words: []string{"hf_", "api_org_"},
		pattern: `\b((?:hf|api_org)_[A-Za-z0-9]{20,})`,
		hits:    []string{"token hf_abcdefghijklmnopqrstuvwxyzABCDEFGH ok => hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"},
		misses:  []string{"hf_hub_download(repo_id)", "HF_HUB_ENABLE_HF_TRANSFER=1", "hf_transformers_utils.py"},
	},
	{
		kind: "openai-key", words: []string{"sk-"},
		pattern: `\b(sk-(?:[a-z]+[0-9]*-)*[A-Za-z0-9_]{20,}[A-Za-z0-9_-]*)`,
		hits: []string{
			"key sk-abcdefghijklmnopqrstuvwx => sk-abcdefghijklmnopqrstuvwx",
			"sk-proj-AbCd1234AbCd1234AbCd1234-x => sk-proj-AbCd1234AbCd1234AbCd1234-x",
			"sk-ant-api03-AbCd1234AbCd1234AbCd1234 => sk-ant-api03-AbCd1234AbCd1234AbCd1234",
		},
		misses: []string{"task-scheduler-loop", "disk-usage", "risk-of-running-out-of-memory"},
	},
	{
		kind: "aws-key", words: []string{"akia", "asia", "abia", "acca"},
		pattern: `\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})`,
		hits:    []string{"AKIAIOSFODNN7EXAMPLE => AKIAIOSFODNN7EXAMPLE"},
		misses:  []string{"AKIA", "region Asia/Tokyo"},
	},
	{
		kind: "gcp-key", words: []string{"aiza", "ya29."},
		pattern: `\b(AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,})`,
		hits:    []string{"AIzaSyA1234567890abcdefghijklmnopqrstuv => AIzaSyA1234567890abcdefghijklmnopqrstuv"},
		misses:  []string{"AIza is a prefix"},
	},
	{
		kind: "github-token", words: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"},
		pattern: `\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,})`,
		hits: []string{
			"ghp_abcdefghijklmnopqrstuvwxyz0123456789 => ghp_abcdefghijklmnopqrstuvwxyz0123456789",
			"glpat-abcdefghij0123456789 => glpat-abcdefghij0123456789",
		},
		misses: []string{"ghp_short"},
	},
	{
		kind: "slack-token", words: []string{"xox", "hooks.slack.com"},
		pattern: `\b(xox[abeoprs]-[A-Za-z0-9-]{10,})|hooks\.slack\.com/services/([A-Za-z0-9/]{10,})`,
		hits: []string{
			"xoxb-123456789012-abcdefghijkl => xoxb-123456789012-abcdefghijkl",
			"https://hooks.slack.com/services/T000/B000/XXXXXXXX => T000/B000/XXXXXXXX",
		},
		misses: []string{"xox", "https://slack.com/help"},
	},
	{
		kind: "vendor-token", words: []string{"nvapi-", "dckr_pat_", "pypi-ag", "npm_", "glsa_", "r8_", "gsk_", "dop_v1_"},
		pattern: `\b((?:nvapi-|dckr_pat_|pypi-Ag|npm_|glsa_|r8_|gsk_|dop_v1_)[A-Za-z0-9_-]{20,})`,
		hits:    []string{"nvapi-abcdefghijklmnopqrstuvwxyz => nvapi-abcdefghijklmnopqrstuvwxyz"},
		misses:  []string{"npm_config_registry=x", "gsk_short"},
	},
	{
		kind: "jwt", words: []string{"eyj"},
		pattern: `\b(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)`,
		hits:    []string{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123 => eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123"},
		misses:  []string{"eyJ is how it starts"},
	},
	{
		kind: "authorization", words: []string{"bearer", "basic", "authorization"},
		pattern: `(?i)\b(?:bearer|authorization["']?\s*[:=]\s*["']?(?:basic|token|bearer))\s+([A-Za-z0-9._~+/=-]{8,})`,
		keep:    isPlainWord,
		hits: []string{
			"Authorization: Bearer abc123DEF456ghi => abc123DEF456ghi",
			"'authorization': 'Basic dXNlcjpwYXNzd29yZA==' => dXNlcjpwYXNzd29yZA==",
		},
		misses: []string{"missing bearer authentication", "Basic configuration"},
	},
	{
		kind: "url-credentials", words: []string{"@"},
		pattern: `\b[a-z][a-z0-9+.-]*://([^\s/:@'"]*:[^\s/@'"]+)@`,
		hits:    []string{"postgres://admin:s3cret@db/x => admin:s3cret"},
		misses:  []string{"https://github.com/a/b@main", "http://127.0.0.1:8000/v1"},
	},
	{
		kind: "url-signature", words: []string{"token=", "signature=", "sig=", "credential="},
		pattern: `(?i)[?&](?:x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|signature|sig|access_token|token)=([^&\s'"]{8,})`,
		hits:    []string{"https://b/x?a=1&X-Amz-Signature=abcdef0123456789&y=2 => abcdef0123456789"},
		misses:  []string{"?token=1", "sigma=0.5"},
	},
	{
		kind:    "assigned-secret",
		words:   secretWords(),
		pattern: `(?i)(?:\b|_)` + secretNames + redactAssign,
		keep:    isNoSecret,
		hits: []string{
			"ServerArgs(api_key='abc123', port=1) => abc123",
			"API_KEY=topsecret => topsecret",
			"admin_api_key=\"x y z\" => x y z",
			"SSL_KEYFILE_PASSWORD: hunter2 => hunter2",
			`{"wandb_api_key": "0123456789abcdef"} => 0123456789abcdef`,
			"HF_TOKEN=abcdef123 => abcdef123",
			"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY => wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
			"AccountKey=abcdefABCDEF0123456789== => abcdefABCDEF0123456789==",
		},
		misses: []string{
			"api_key=None, admin_api_key=None", "ssl_keyfile_password=None", "api_key=''", "max_total_tokens=1000",
			"KeyError: 'password'", "pad_token_id: 0", "eos_token='</s>'", "num_key_value_heads=8", "api_key: str | None",
			"hf_token=True", "password: ********",
		},
	},
	{
		kind: "option-secret", words: []string{"--"},
		pattern: `(?i)--(?:` + secretNames + `|token|password)(?:\s+|=)(?:` + redactQuoted + `|` + redactBare + `)`,
		keep:    func(v string) bool { return isNoSecret(v) || len(v) > 1 && v[:2] == "--" },
		hits:    []string{"--api-key abc123 --port 1 => abc123", "--hf-token 'a b' => a b", "--ADMIN-API-KEY=xyz9 => xyz9"},
		misses:  []string{"--api-key --port 1", "--tokenizer-path /x", "--token-usage 5"},
	},

	{
		kind: "prompts", name: "prompt",
		words:   []string{"prompt", "text", "content", "messages"},
		pattern: `(?i)\\?["']?\b(?:generated_texts|input_texts|prompts|messages|texts)\b\\?["']?\s*[:=]\s*\[((?:[^\[\]"']|"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)*(?:'|$)|\[[^\]]*\])+)(?:\]|$)`,
		keep:    isNoPrompts,
		mask:    func(r *Redactor, v string) string { return `"` + r.pseudonym("prompts", "prompt", v) + `"` },
		hits:    []string{`{"generated_texts": ["Hello there", "x"], "n": 1} => "Hello there", "x"`, `messages=[{'role': 'user', 'content': 'hi'}] => {'role': 'user', 'content': 'hi'}`},
		misses:  []string{`"input_lens": [1, 2]`, `prompts=[1, 2, 3]`, "num_prompts=12"},
	},
	{
		kind: "prompt", name: "prompt",
		words:   []string{"prompt", "text", "content", "body"},
		pattern: `(?i)\b(?:prompt|text|input_text|generated_text|origin_input_text|content|system_prompt|user_prompt|request_body|body)\\?["']?\s*[:=]\s*(?:b)?(?:` + redactQuoted + `)`,
		keep:    func(v string) bool { return len(v) < 3 },
		hits:    []string{`GenerateReqInput(text='Tell me a secret', x=1) => Tell me a secret`, `{"prompt": "Who is \"she\"?"} => Who is \"she\"?`, `prompt: 'cut off here => cut off here`},
		misses:  []string{"text=None", "prompt: 512 tokens", "content-type: application/json"},
	},
	{
		kind: "user", name: "user", learn: true, words: []string{"/home/", "/users/"},
		pattern: `/(?:home|Users)/([A-Za-z_][\w.-]*)`,
		keep:    isCommonUser,
		hits:    []string{"cd /home/alice/run => alice"},
		misses:  []string{"/home/user-1/x", "/homework/alice"},
	},
	{
		kind: "user", name: "user", learn: true, words: []string{"user", "login", "uid="},
		pattern: `(?i)(?:\b(?:user|username|logname|login|user_name|ssh_user)\\?["']?(?:\s*[:=]\s*|\s+name\s+)["']?|\buid=\d+\()([A-Za-z_][\w.-]*)`,
		keep:    isCommonUser,
		hits:    []string{"USER=alice => alice", "uid=1000(bob) gid=1 => bob", `"username": "carol" => carol`},
		misses:  []string{"user=None", "the user asked", "user: user"},
	},
	{
		kind: "user", name: "user", learn: true, words: []string{"@"},
		pattern: `(?:^|[\s\[('"<=,])([A-Za-z_][\w.+-]*)@[A-Za-z][\w.-]*[A-Za-z0-9](?::[~/]|[\s\])'">,]|$)`,
		keep:    isCommonUser,
		hits:    []string{"alice@gpu-07:~$ ls => alice", "mail bob@example.com now => bob"},
		misses:  []string{"root@host-1:~#", "image@sha256:abc"},
	},
	{
		kind: "host", name: "host", learn: true, words: []string{"@"},
		pattern: `(?:^|[\s\[('"<=,])[A-Za-z_][\w.+-]*@([A-Za-z][\w.-]*[A-Za-z0-9])(?::[~/]|[\s\])'">,]|$)`,
		keep:    isPublicHost,
		hits:    []string{"user-1@gpu-07:~$ ls => gpu-07"},
		misses:  []string{"a@localhost:~$", "image@sha256:abc"},
	},
	{
		kind: "host", name: "host", learn: true, words: []string{"host", "node", "server_name", "rank0"},
		pattern: `(?i)\b(?:hostname|host|nodename|node_name|nodelist|node|slurmd_nodename|slurm_job_nodelist|master_addr|server_name)\\?["']?\s*[:=]\s*\\?["']?([A-Za-z][\w.-]*[A-Za-z0-9])`,
		keep:    isNoHost,
		hits:    []string{"hostname: gpu-node-17 => gpu-node-17", "MASTER_ADDR=node17.cluster => node17.cluster", `"host": "worker3" => worker3`},
		misses:  []string{"host='localhost'", "host: None", "node: 0", "host=host-1"},
	},
	{
		kind: "host", name: "host", learn: true,
		pattern: `^(?:<\d+>)?(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)) ([A-Za-z][\w.-]*) [\w./@-]+(?:\[\d+\])?: `,
		keep:    isNoHost,
		hits:    []string{"Nov 30 21:37:04 gpunode17 kernel: NVRM: Xid => gpunode17", "2026-11-30T21:37:04+0000 node3 sglang[12]: x => node3"},
		misses:  []string{"Nov 30 21:37:04 ERROR: x", "Nov 30 21:37:04 host-1 kernel: x"},
	},
	{
		kind: "host", name: "host", learn: true,
		words: []string{
			".com", ".net", ".org", ".edu", ".gov", ".io", ".ai", ".dev", ".cloud", ".internal", ".local", ".lan", ".corp", ".intra",
			".cluster", ".example",
		},
		pattern: `\b((?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+(?:com|net|org|edu|gov|io|ai|dev|cloud|internal|local|lan|corp|intra|cluster|example))\b`,
		keep:    func(v string) bool { return isPublicHost(v) || isAttribute(v) },
		hits:    []string{"connect to gpu-3.acme-labs.com failed => gpu-3.acme-labs.com", "ip-10-0-0-4.ec2.internal => ip-10-0-0-4.ec2.internal"},
		misses:  []string{"https://github.com/x", "huggingface.co", "threading.local()", "docs.sglang.ai", "self.net(x)"},
	},
	{
		kind: "ip", name: "ip", learn: true, quick: hasQuad,
		pattern: `(?:^|[^\w.=><~-]|[^=><~]=|ip-)((?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d))(?:[^\w.]|\.?$|\.\D)`,
		keep:    isLocalIP,
		hits:    []string{"bind 10.1.2.3:8000 => 10.1.2.3", "('192.168.1.20', 1) => 192.168.1.20", "ip=172.16.0.9) => 172.16.0.9"},
		misses:  []string{"127.0.0.1:8000", "0.0.0.0", "nvidia-cudnn-cu12==9.1.0.70", "v1.2.3.4", "1.2.3.4.5"},
	},
	{
		kind: "ip", name: "ip", learn: true, quick: func(s string) bool { return strings.Contains(s, "::") || strings.Count(s, ":") >= 7 },
		pattern: `(?:^|[\s\[('"=/,])((?:[0-9a-fA-F]{1,4}:|:){2,7}(?:[0-9a-fA-F]{1,4})?)(?:[\s\])'"%/,]|$)`,
		keep:    isNoIPv6,
		hits:    []string{"[2001:db8::17]:8000 => 2001:db8::17", "addr fe80::1 => fe80::1"},
		misses:  []string{"at 21:37:04 it", "::1", "std::abs", "0000:00:06.0", "c10::cuda"},
	},
	{
		kind: "mac", name: "mac", quick: func(s string) bool { return strings.Count(s, ":") >= 5 },
		pattern: `\b((?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})\b`,
		hits:    []string{"ether 52:54:00:12:34:56 => 52:54:00:12:34:56"},
		misses:  []string{"21:37:04", "0000:00:06.0"},
	},
	{
		kind: "path", name: "path", words: []string{"model", "tokenizer", "lora", "draft", "checkpoint", "load"},
		pattern: `(?i)(?:--(?:served-)?(?:model|tokenizer|lora|draft-model|speculative-draft-model|checkpoint)(?:-path|-name|-dir)?(?:s)?[\s=]+|\b(?:served_)?(?:model|tokenizer|model_path|model_name|model_id|tokenizer_path|tokenizer_id|tokenizer_name|lora_path|speculative_draft_model_path|served_model_name|draft_model_path|model_name_or_path|load_format_path)\\?["']?\s*[:=]\s*(?:\[\s*)?\\?)["']?((?:~|\.{1,2})?/?[\w@.+-]+(?:/[\w@.+-]+)+/?)`,
		keep:    isPublicModel, learn: true, mask: (*Redactor).maskPath,
		hits: []string{
			"model_path='acme/secret-70b' => acme/secret-70b", "--model-path /models/x/y --tp 8 => /models/x/y",
			`"model": "/data/m1" => /data/m1`,
		},
		misses: []string{"model_path='Qwen/Qwen2.5-7B'", "--model meta-llama/Llama-3.1-8B", "model=None"},
	},
	{
		kind: "path", name: "path", words: []string{"models--"},
		pattern: `\b(models--[\w.]+(?:-[\w.]+)*--[\w.-]+)`,
		keep:    isPublicModel,
		hits:    []string{"hub/models--acme--secret-70b/snapshots => models--acme--secret-70b"},
		misses:  []string{"models--Qwen--Qwen2.5-7B"},
	},
	{
		kind: "path", name: "path",
		words: []string{
			"~", "/home/", "/users/", "/root/", "/mnt/", "/data", "/scratch/", "/model", "/ckpt", "/checkpoint", "/nfs/", "/lustre/",
			"/gpfs/", "/fsx/", "/efs/", "/share", "/raid/", "/net/", "/project", "/workspace/", "/work/", "/srv/", "/nvme", "/cephfs/",
			"/weka/", "/vast/", "/storage/",
		},
		pattern: `(?:^|[\s'"=(:,\[<])((?:~[\w.-]*|/(?:home|Users|root|mnt|data\d*|scratch|models?|ckpts?|checkpoints?|nfs|lustre|gpfs|fsx|efs|shared|share|raid|net|projects?|workspace|work|srv|nvme\w*|cephfs|weka|vast|storage))(?:/[^\s'":;,()<>\[\]{}|` + "`" + `\\]+)+)`,
		mask:    (*Redactor).maskPath,
		hits:    []string{"open /mnt/nfs/acme/ckpt failed => /mnt/nfs/acme/ckpt", "~/secret/run => ~/secret/run"},
		misses:  []string{"/usr/lib/x.so", "/dev/shm/x", "/proc/1/fd", "a/home/b", "/v1/models/x"},
	},
}
