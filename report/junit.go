package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// JUnit XML has no standard; these are the elements that Jenkins, GitLab and
// GitHub's test reporters read. They are written here with encoding/xml and not
// with a library: the kept one (jstemmer/go-junit-report) is made for the output
// of go test and writes log text as CDATA, where a control byte makes the file
// unreadable. encoding/xml escapes text and replaces what XML cannot hold.

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr,omitempty"`
	Failure *junitVerdict `xml:"failure"`
	Error   *junitVerdict `xml:"error"`
	Skipped *junitVerdict `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitVerdict struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the document for continuous integration: a test case for the
// run as a whole and one for each benchmark point. A point that served requests
// and lost some fails; one that died is an error; one that never started, or of
// which nothing is known, is skipped, since the case of the run says why.
func WriteJUnit(w io.Writer, doc *Document) error {
	s := junitSuite{Name: orElse(clean(doc.Run), "run"), Cases: []junitCase{runCase(doc)}}
	for i := range doc.Points {
		s.Cases = append(s.Cases, pointCase(doc, i))
	}
	for _, p := range [][2]string{
		{"outcome", doc.Outcome}, {"root_cause", doc.RootCause.Class}, {"confidence", doc.RootCause.Confidence},
		{"engine", doc.Config.Engine}, {"engine_version", doc.Config.Version}, {"tool", doc.Tool.Name + " " + doc.Tool.Version},
	} {
		if p[1] != "" {
			s.Properties = append(s.Properties, junitProperty{p[0], clean(p[1])})
		}
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		s.Tests++
		s.Failures += one(c.Failure != nil)
		s.Errors += one(c.Error != nil)
		s.Skipped += one(c.Skipped != nil)
	}
	all := junitSuites{
		Name: "forensics", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Skipped: s.Skipped,
		Suites: []junitSuite{s},
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding JUnit: %w", err)
	}
	if _, err := io.WriteString(w, xml.Header+string(out)+"\n"); err != nil {
		return fmt.Errorf("writing JUnit: %w", err)
	}
	return nil
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// runCase is the case of the run as a whole.
func runCase(doc *Document) junitCase {
	root := &doc.RootCause
	c := junitCase{Class: "forensics.run", Name: "run"}
	v := &junitVerdict{Message: clean(orElse(root.Title, doc.Summary)), Type: clean(root.Class), Text: rootText(doc)}
	switch doc.Outcome {
	case "completed":
		c.Out = v.Text
	case "inconclusive":
		c.Skipped = v
	default:
		c.Failure = v
	}
	return c
}

// rootText is the verdict in plain lines.
func rootText(doc *Document) string {
	lines := []string{clean(doc.Summary)}
	for _, ev := range doc.RootCause.Evidence {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", clean(ev.File), ev.Line, clean(ev.Text)))
	}
	if doc.RootCause.Remedy != "" {
		lines = append(lines, "What to do: "+clean(doc.RootCause.Remedy))
	}
	return strings.Join(lines, "\n")
}

func pointCase(doc *Document, i int) junitCase {
	p := &doc.Points[i]
	name := clean(pointName(*p, i))
	if p.RequestRate != "" && p.MaxConcurrency != nil {
		name += ", rate " + clean(string(p.RequestRate))
	}
	c := junitCase{Class: "forensics.point", Name: fmt.Sprintf("%d: %s", i+1, name)}
	if d, ok := p.Metrics["duration"]; ok && d.IsSet() && d >= 0 {
		c.Time = formatFixed(float64(d), 3)
	}
	v := &junitVerdict{Message: clean(orElse(p.Why, p.Status)), Type: clean(p.Status)}
	for _, ev := range p.Evidence {
		v.Text += fmt.Sprintf("%s:%d: %s\n", clean(ev.File), ev.Line, clean(ev.Text))
	}
	switch p.Status {
	case "completed":
		c.Out = pointMetrics(p)
	case "partial":
		c.Failure = v
	case "died":
		c.Error = v
	default:
		c.Skipped = v
	}
	return c
}

// pointMetrics lists the metrics of a point, one a line.
func pointMetrics(p *Point) string {
	var b strings.Builder
	for _, k := range sortedKeys(p.Metrics) {
		if x := p.Metrics[k]; !isNoData(p, x) {
			fmt.Fprintf(&b, "%s = %s\n", clean(k), number(float64(x)))
		}
	}
	return b.String()
}
