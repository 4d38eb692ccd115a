package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/llmforensics/forensics"
)

// htmlNodes parses a page and returns its elements.
func htmlNodes(t *testing.T, doc *Document) []*html.Node {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(render(t, doc, WriteHTML)))
	if err != nil {
		t.Fatal(err)
	}
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			out = append(out, n)
		}
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %q", n.Data)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestHTMLHostile looks for elements, attributes and characters that the template
// does not have. The elements of a page must not depend on what its texts say.
func TestHTMLHostile(t *testing.T) {
	own := map[string]bool{}
	for _, n := range htmlNodes(t, documents()["crash"]) {
		own[n.Data] = true
		for _, a := range n.Attr {
			own[n.Data+" "+a.Key] = true
		}
	}
	for _, extra := range []string{"strong", "strong class", "tr data-at", "th class"} {
		own[extra] = true
	}
	eachPoisoned(t, func(t *testing.T, doc *Document) {
		for _, n := range htmlNodes(t, doc) {
			if !own[n.Data] {
				t.Errorf("element %s", n.Data)
			}
			for _, a := range n.Attr {
				if !own[n.Data+" "+a.Key] {
					t.Errorf("attribute %s of %s: %q", a.Key, n.Data, a.Val)
				}
			}
			if n.Data == "a" && !strings.HasPrefix(attr(n, "href"), "#") && attr(n, "href") != "https://github.com/sgl-project/sglang/issues/1" {
				t.Errorf("link to %q", attr(n, "href"))
			}
		}
		checkControls(t, string(render(t, doc, WriteHTML)))
	})
}

// TestHTMLData makes sure that the data cannot end its element, and is cleaned.
func TestHTMLData(t *testing.T) {
	eachPoisoned(t, func(t *testing.T, doc *Document) {
		for _, n := range htmlNodes(t, doc) {
			if attr(n, "id") != "data" {
				continue
			}
			text := n.FirstChild.Data
			if strings.ContainsAny(text, "<>&\u2028\u2029") {
				t.Errorf("unescaped: %.200s", text)
			}
			var data htmlData
			if err := json.Unmarshal([]byte(text), &data); err != nil {
				t.Fatal(err)
			}
			for _, l := range data.Lanes {
				checkControls(t, l.Title)
			}
			return
		}
		t.Error("no data")
	})
}

// TestHTMLPolicy compares the policy with the elements it is for.
func TestHTMLPolicy(t *testing.T) {
	policy, hashes := "", map[string]int{}
	for _, n := range htmlNodes(t, documents()["crash"]) {
		switch {
		case n.Data == "meta" && attr(n, "http-equiv") != "":
			policy = attr(n, "content")
		case n.Data == "style", n.Data == "script" && attr(n, "type") == "":
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			hashes[n.Data+" 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'"]++
		}
		for _, a := range n.Attr {
			if a.Key == "style" || a.Key == "src" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("attribute %s of %s", a.Key, n.Data)
			}
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	for _, part := range strings.Split(policy, "; ") {
		words := strings.Fields(part)
		for _, h := range words[1:] {
			if strings.HasPrefix(h, "'sha256-") && hashes[strings.TrimSuffix(words[0], "-src")+" "+h] != 1 {
				t.Errorf("%s for nothing: %s", words[0], h)
			}
			delete(hashes, strings.TrimSuffix(words[0], "-src")+" "+h)
		}
	}
	if len(hashes) > 0 {
		t.Errorf("not in the policy: %v", hashes)
	}
}

// TestHTMLStable renders twice, and compares the document before and after.
func TestHTMLStable(t *testing.T) {
	for name, doc := range documents() {
		before := toJSON(t, doc)
		first := render(t, doc, WriteHTML)
		if !bytes.Equal(first, render(t, documents()[name], WriteHTML)) {
			t.Errorf("%s: two renderings differ", name)
		}
		if diff := cmp.Diff(string(before), string(toJSON(t, doc))); diff != "" {
			t.Errorf("rendering changed the document %s:\n%s", name, diff)
		}
	}
}

func TestHTMLSections(t *testing.T) {
	for name, want := range map[string][]string{
		"crash": {
			"chain", "remedy", "timeline", "charts", "sweep", "findings", "evidence", "configuration", "commands", "missing", "sources",
		},
		"healthy": {"timeline", "charts", "sweep", "findings", "evidence", "configuration", "sources"},
		"empty":   {"findings", "missing", "sources"},
	} {
		var got []string
		for _, n := range htmlNodes(t, documents()[name]) {
			if id := attr(n, "id"); n.Data == "section" && id != "root" {
				got = append(got, id)
			}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

// TestHTMLEvidence makes sure that what is cited is quoted once and leads back.
func TestHTMLEvidence(t *testing.T) {
	assets, err := loadHTML()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newHTMLPage(cleanDocument(documents()["crash"]), assets)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.Files {
		for _, l := range f.Lines {
			got = append(got, fmt.Sprintf("%s %s:%d %v", l.ID, f.Name, l.Line, mapSlice(l.Uses, func(u htmlUse) string { return u.ID })))
		}
	}
	want := []string{
		"line-1 bench.log:189 [step-3 symptom-1 point-5]", "line-2 bench.log:200 [symptom-2]",
		"line-3 server.log:4100 [root step-2]", "line-4 server.log:4109 [root step-1]",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestHTMLRedaction shows what was masked, as text.
func TestHTMLRedaction(t *testing.T) {
	doc := documents()["empty"]
	doc.Redaction = &Redaction{Level: "strict", Kinds: []RedactedKind{{Kind: "<b>ho\x1b[1mst", Values: 2, Places: 7}}}
	text := string(render(t, doc, WriteHTML))
	if want := `<th scope="row">&lt;b&gt;ho[1mst</th><td class="right">2</td><td class="right">7</td>`; !strings.Contains(text, want) {
		t.Errorf("no %s in the page", want)
	}
	if doc.Redaction.Kinds[0].Kind == "<b>ho[1mst" {
		t.Error("rendering changed the document")
	}
}

func TestHTMLLanes(t *testing.T) {
	doc := documents()["crash"]
	doc.GPUs[1].Bus = "00000000:4E:00"
	doc.Timeline[0].Process = "kernel"
	doc.Timeline[0].Evidence.Text = "NVRM: Xid (PCI:0000:4e:00): 79, GPU has fallen off the bus."
	doc.Timeline[1].Evidence.Text = "nvidia-nvswitch1: SXid (PCI:0000:aa:00.0): 24007, Fatal"
	var got []string
	for _, l := range lanesOf(doc) {
		got = append(got, fmt.Sprintf("%s: %s, %d marks", l.Kind, l.Title, len(l.Marks)))
	}
	want := []string{
		"client: benchmark client, 9 marks", "process: scheduler TP0 pid 771, 4 marks", "process: process not named, 2 marks",
		"process: scheduler TP0, 2 marks", "kernel: kernel, 1 marks", "gpu: GPU 0, 0 marks", "gpu: GPU 1, 1 marks",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

// TestHTMLCore makes sure that a line from yesterday does not squeeze the run.
func TestHTMLCore(t *testing.T) {
	doc := documents()["crash"]
	d, _ := newHTMLData(doc)
	if d.Core != d.Range {
		t.Errorf("shows %v of %v at first", d.Core, d.Range)
	}
	doc.Timeline[0].UnixMs -= 24 * 3600 * 1000
	if d, _ = newHTMLData(doc); d.Core[0] < d.Range[0]+20*3600 || d.Core[1] > d.Range[1] {
		t.Errorf("shows %v of %v at first", d.Core, d.Range)
	}
}

// largeDocument is as large as a document gets.
func largeDocument() *Document {
	doc := documents()["crash"]
	point := doc.Points[0]
	for i := range maxPoints {
		point.Label = fmt.Sprint("point ", i)
		doc.Points = append(doc.Points, point)
	}
	i := slices.IndexFunc(doc.Series, func(s Series) bool { return s.Name == forensics.ValGPUUtil })
	for n := range maxGPUs {
		s := doc.Series[i]
		s.Label, s.Mean = fmt.Sprint("GPU ", n), nil
		for j := range 1000 {
			s.Mean = append(s.Mean, Number(j*37%101))
		}
		s.Min, s.Max = s.Mean, s.Mean
		doc.Series = append(doc.Series, s)
	}
	for n := range maxProcesses {
		p := doc.Processes[0]
		p.Name = fmt.Sprint("worker ", n)
		doc.Processes = append(doc.Processes, p)
	}
	return doc
}

func TestHTMLSize(t *testing.T) {
	for name, c := range map[string]struct {
		doc  *Document
		most int
	}{"crash": {documents()["crash"], 400_000}, "large": {largeDocument(), 2_000_000}} {
		if n := len(render(t, c.doc, WriteHTML)); n > c.most {
			t.Errorf("%s: %d bytes, want at most %d", name, n, c.most)
		}
	}
}

func BenchmarkHTML(b *testing.B) {
	for name, doc := range map[string]*Document{"crash": documents()["crash"], "large": largeDocument()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := WriteHTML(io.Discard, doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
