package report

import (
	"strings"
	"testing"
)

// TestRedactRules proves each rule by its own hits and misses.
func TestRedactRules(t *testing.T) {
	for i := range compiledRules() {
		c := compiledRules()[i]
		alone := func() *Redactor {
			r, err := NewRedactor(RedactStrict)
			if err != nil {
				t.Fatal(err)
			}
			r.rules = []compiledRule{c}
			return r
		}
		if len(c.hits) == 0 || len(c.misses) == 0 {
			t.Errorf("rule %d (%s) has no hits or no misses", i, c.kind)
		}
		for _, h := range c.hits {
			text, value, _ := strings.Cut(h, " => ")
			text, value = strings.ReplaceAll(text, `\n`, "\n"), strings.ReplaceAll(value, `\n`, "\n")
			r := alone()
			got := r.applyRules(text)
			if strings.Contains(got, value) || len(r.values) == 0 {
				t.Errorf("rule %d (%s) leaves %q in %q", i, c.kind, value, got)
			}
			if again := r.applyRules(got); again != got {
				t.Errorf("rule %d (%s) masks its own mask: %q becomes %q", i, c.kind, got, again)
			}
		}
		for _, m := range c.misses {
			if got := alone().applyRules(m); got != m {
				t.Errorf("rule %d (%s) makes %q of %q", i, c.kind, got, m)
			}
		}
	}
}

func TestRedactStable(t *testing.T) {
	r, err := NewRedactor(RedactStrict)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"cd /home/alice/run on gpu-node-17", "hostname: gpu-node-17", "10.1.2.3:80 and 10.1.2.4:80 and 10.1.2.3:81",
		`File "/home/alice/venv/lib/python3.11/site-packages/sglang/srt/x.py", line 3, in alice`,
	}
	for _, l := range lines {
		r.Learn(l)
	}
	want := []string{
		"cd /path-1 on host-1", "hostname: host-1", "ip-1:80 and ip-2:80 and ip-1:81",
		`File "/path-2/lib/python3.11/site-packages/sglang/srt/x.py", line 3, in user-1`,
	}
	for i, l := range lines {
		if got := r.Text(l); got != want[i] {
			t.Errorf("got  %q\nwant %q", got, want[i])
		}
	}
}

func TestRedactUnknownLevel(t *testing.T) {
	if _, err := NewRedactor("most"); err == nil || !strings.Contains(err.Error(), "use off, secrets or strict") {
		t.Errorf("got error %v", err)
	}
}

// TestRedactLearnsFromKeys masks a name in a quoted line that only the
// configuration tells as one.
func TestRedactLearnsFromKeys(t *testing.T) {
	doc := documents()["crash"]
	doc.Config.Values["model_path"] = "acme/rosebud-70b"
	doc.Processes[0].Evidence[0].Text = "Starting to load model acme/rosebud-70b..."
	red, err := NewRedactor(RedactStrict)
	if err != nil {
		t.Fatal(err)
	}
	out := toJSON(t, red.Document(doc))
	if strings.Contains(string(out), "rosebud") {
		t.Errorf("the model's name is in the report")
	}
	if err := red.Check("report.json", out); err != nil {
		t.Error(err)
	}
}
