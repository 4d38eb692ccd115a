package report

import (
	"bytes"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// planted are texts to hide, each in a line as a log would hold it. "@" in place
// of the value stands for it.
var planted = []struct {
	secret bool
	value  string
	line   string
}{
	{true, "hf_QwErTyUiOpAsDfGhJkLzXcVbNm12345678", "using token @ for download"},
	{true, "sk-AbCdEf0123456789AbCdEf0123456789", "OPENAI_API_KEY=@"},
	{true, "sk-proj-Zz11Yy22Xx33Ww44Vv55Uu66", "client key @."},
	{true, "sk-ant-api03-AaBbCcDdEeFfGg00112233", "anthropic @"},
	{true, "AKIAQWERTYUIOP123456", "aws_access_key_id = @"},
	{true, "wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLEKEYab", "AWS_SECRET_ACCESS_KEY=@"},
	{true, "AIzaSyB0123456789abcdefghijklmnopqrstuv", "maps key=@"},
	{true, "ya29.A0ARrdaM0123456789abcdefghij", "oauth @ expired"},
	{true, "ghp_0123456789abcdefghijABCDEFGHIJ012345", "git clone with @"},
	{true, "github_pat_11ABCDEFG0123456789_abcdefghijklmnop", "pat @"},
	{true, "glpat-Abcdefghij0123456789", "gitlab @"},
	{true, "xoxb-123456789012-345678901234-AbCdEf", "slack bot @"},
	{true, "T01ABCDEF/B01ABCDEF/Zyxwvutsrqponmlk", "post to https://hooks.slack.com/services/@"},
	{true, "Zm9vYmFyOmJhejEyMzQ1Njc4OTA", "Authorization: Bearer @"},
	{true, "QWxhZGRpbjpvcGVuU2VzYW1lMTIz", "'Authorization': 'Basic @'"},
	{true, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.Sfl-KxwRJ_SMeKKF2QT4", "cookie @"},
	{true, "svc:Pa55w0rdX", "connect postgres://@@db/metrics"},
	{true, "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "GET https://b.example/x?X-Amz-Signature=@&y=1"},
	{true, "Rosebud-4711", "ServerArgs(model_path='m', api_key='@', port=1)"},
	{true, "Kane-0815-xx", "ServerArgs(ADMIN_API_KEY=\"@\", port=1)"},
	{true, "Xanadu#99", "ssl_keyfile_password='@', x=1"},
	{true, "Thatcher-77", "python -m x --api-key @ --tp 8"},
	{true, "Bernstein-66", "python -m x --hf-token=@ --tp 8"},
	{true, "Leland5555", `{"password": "@", "n": 1}`},
	{true, "nvapi-Abcdefghijklmnopqrstuvwx01", "nim @"},
	{true, "9c1185a5c5e9fc54612808977ee8f548b2258d31", "WANDB_API_KEY: @"},
	{true, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "-----BEGIN PRIVATE KEY-----@-----END PRIVATE KEY-----"},
	{true, "abcDEF0123456789abcDEF0123456789abcDEF01==", "DefaultEndpointsProtocol=https;AccountKey=@;x"},

	{false, "susanalexander", "File \"/home/@/run/bench.py\", line 3, in main"},
	{false, "emilymonroe", "USER=@"},
	{false, "jgettys", "@@box:~$ ls"},
	{false, "gpu-node-4711", "hostname: @"},
	{false, "worker77.rosebud-labs.com", "connect to @ port 22 failed"},
	{false, "10.77.88.99", "init_method=tcp://@:20000"},
	{false, "2001:db8:7:8::99", "listening on [@]:8000"},
	{false, "xanadu-private/rosebud-70b", "model_path='@', tp_size=8"},
	{false, "/mnt/rosebud/weights/v7", "loading from @ now"},
	{false, "/home/kane/projects/sled", "cwd=@"},
	{false, "models--xanadu--sled-13b", "snapshot @ found"},
	{false, "Describe the burning sled in one line", "GenerateReqInput(text='@', stream=True)"},
	{false, "The sled is called a secret name", `{"generated_texts": ["@"], "n": 1}`},
	{false, "charles@xanadu-labs.org", "mail to @ now"},
}

func plantedLines() []string {
	var lines []string
	for _, p := range planted {
		// "@@" is the value and a real at sign.
		line := strings.Replace(p.line, "@@", "\x00\x01", 1)
		line = strings.Replace(line, "@", "\x00", 1)
		line = strings.ReplaceAll(line, "\x00", p.value)
		lines = append(lines, strings.ReplaceAll(line, "\x01", "@"))
	}
	return lines
}

// TestPlantedInEveryFormat puts the planted lines in every text of a document, and
// looks for the values in every format.
func TestPlantedInEveryFormat(t *testing.T) {
	if len(planted) < 40 {
		t.Fatalf("only %d values are planted", len(planted))
	}
	lines := plantedLines()
	for _, level := range []string{RedactSecrets, RedactStrict} {
		for i := range lines {
			doc := documents()["crash"]
			n := i
			poison(reflect.ValueOf(doc), func() string { n++; return lines[n%len(lines)] })
			doc.Tool = testTool
			red, err := NewRedactor(level)
			if err != nil {
				t.Fatal(err)
			}
			masked := red.Document(doc)
			if i > 0 { // one document in all formats; the others in the form that shows everything
				findPlanted(t, level, "json", render(t, masked, WriteJSON))
				continue
			}
			for _, f := range shareable(t) {
				out := render(t, masked, f.write)
				findPlanted(t, level, f.ext, out)
				if err := red.Check(f.ext, out); err != nil {
					t.Errorf("%s: %v", level, err)
				}
			}
		}
	}
}

// shareable lists all formats.
func shareable(t *testing.T) []struct {
	ext   string
	write func(io.Writer, *Document) error
} {
	t.Helper()
	return append(slices.Clone(formats), []struct {
		ext   string
		write func(io.Writer, *Document) error
	}{
		{"html", WriteHTML}, {"junit", WriteJUnit}, {"sarif", WriteSARIF},
		{"issue", func(w io.Writer, d *Document) error { return WriteIssue(w, d, IssueOptions{Template: "vllm"}) }},
	}...)
}

func findPlanted(t *testing.T, level, format string, out []byte) {
	t.Helper()
	for _, p := range planted {
		if (p.secret || level == RedactStrict) && bytes.Contains(out, []byte(p.value)) {
			i := bytes.Index(out, []byte(p.value))
			t.Errorf("%s, %s: %q is in %q", level, format, p.value, out[max(0, i-60):min(len(out), i+len(p.value)+20)])
		}
	}
}

func TestPlantedInCopy(t *testing.T) {
	in := strings.Join(plantedLines(), "\r\n") + "\n-----BEGIN RSA PRIVATE KEY-----\nAAAA1111bbbb\ncccc2222\n-----END RSA PRIVATE KEY-----\n" +
		"\x1b[32mhf_QwErTyUiOpAsDfGhJkLzXcVbNm12345678\x1b[0m"
	for _, level := range []string{RedactSecrets, RedactStrict} {
		red, err := NewRedactor(level)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := red.LearnFrom(strings.NewReader(in)); err != nil {
			t.Fatal(err)
		}
		if err := red.Copy("x.log", &out, strings.NewReader(in)); err != nil {
			t.Fatal(err)
		}
		findPlanted(t, level, "copy", out.Bytes())
		if strings.Contains(out.String(), "1111") || strings.Contains(out.String(), "2222") {
			t.Errorf("%s: the lines of a private key are in %q", level, out.String())
		}
		if got, want := strings.Count(out.String(), "\n"), strings.Count(in, "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", level, got, want)
		}
	}
}

// TestCheckFailsClosed gives the check a page that was not masked.
func TestCheckFailsClosed(t *testing.T) {
	for _, p := range planted {
		red, err := NewRedactor(RedactStrict)
		if err != nil {
			t.Fatal(err)
		}
		red.Text(strings.Join(plantedLines(), "\n"))
		err = red.Check("report.md", []byte("text "+p.value+" text"))
		if p.secret && err == nil {
			t.Errorf("the check lets %q through", p.value)
		}
		if err != nil && strings.Contains(err.Error(), p.value) {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
}

func TestCopyRefusesBinary(t *testing.T) {
	red, err := NewRedactor(RedactSecrets)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"\x1f\x8b\x08rest", "PK\x03\x04rest", strings.Repeat("a\x00", 50)} {
		if err := red.Copy("x", io.Discard, strings.NewReader(in)); err == nil {
			t.Errorf("%q is copied", in)
		}
	}
	var out bytes.Buffer
	if err := red.Copy("x", &out, strings.NewReader("\xff\xfea\x00\n\x00")); err != nil || out.String() != "a\n" {
		t.Errorf("UTF-16: got %q, %v", out.String(), err)
	}
}
