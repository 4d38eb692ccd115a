package report

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

// validate checks JSON against the published schema.
func validate(t *testing.T, text []byte) error {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(SchemaJSON))
	if err != nil {
		t.Fatalf("schema is not JSON: %v", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("schema does not compile: %v", err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("document is not JSON: %v", err)
	}
	return s.Validate(v)
}

func toJSON(t *testing.T, doc *Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSchemaAcceptsDocuments(t *testing.T) {
	for name, doc := range documents() {
		if err := validate(t, toJSON(t, doc)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchemaRejectsDrift(t *testing.T) {
	good := string(toJSON(t, documents()["crash"]))
	for name, edit := range map[string][2]string{
		"unknown key at the top":    {`"outcome": "failed"`, `"outcome": "failed", "extra": 1`},
		"unknown key in a point":    {`"status": "died"`, `"status": "died", "extra": 1`},
		"unknown outcome":           {`"outcome": "failed"`, `"outcome": "broken"`},
		"unknown status":            {`"status": "died"`, `"status": "dead"`},
		"null list":                 {`"references": [`, `"references": null, "x": [`},
		"missing key":               {`"truncated": false`, `"Truncated": false`},
		"time of another form":      {`"start": "2026-05-01T10:00:40.000"`, `"start": "10:00:40"`},
		"request rate of no kind":   {`"request_rate": "inf"`, `"request_rate": "fast"`},
		"root cause of no standing": {`"confidence": "confirmed"`, `"why": "confirmed"`},
	} {
		bad := strings.Replace(good, edit[0], edit[1], 1)
		if bad == good {
			t.Errorf("%s: the document has no %s", name, edit[0])
			continue
		}
		if validate(t, []byte(bad)) == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}

// TestSchemaNamesEveryField compares the Go types with the schema, so that no
// field can be added to one of them alone.
func TestSchemaNamesEveryField(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(SchemaJSON, &schema); err != nil {
		t.Fatal(err)
	}
	check := func(name string, o object, typ reflect.Type) {
		var fields, required []string
		for i := range typ.NumField() {
			tag := typ.Field(i).Tag.Get("json")
			key, opts, _ := strings.Cut(tag, ",")
			fields = append(fields, key)
			if opts != "omitempty" {
				required = append(required, key)
			}
		}
		slices.Sort(fields)
		slices.Sort(required)
		slices.Sort(o.Required)
		if diff := cmp.Diff(sortedKeys(o.Properties), fields); diff != "" {
			t.Errorf("%s: schema (-) and type (+) differ:\n%s", name, diff)
		}
		if diff := cmp.Diff(o.Required, required); diff != "" {
			t.Errorf("%s: required in schema (-) and type (+) differ:\n%s", name, diff)
		}
	}
	check("document", schema.object, reflect.TypeFor[Document]())
	types := map[string]reflect.Type{
		"tool": reflect.TypeFor[Tool](), "evidence": reflect.TypeFor[Evidence](), "finding": reflect.TypeFor[Finding](),
		"step": reflect.TypeFor[Step](), "rejected": reflect.TypeFor[Rejected](), "point": reflect.TypeFor[Point](),
		"process": reflect.TypeFor[Process](), "phase": reflect.TypeFor[Phase](), "config": reflect.TypeFor[Config](),
		"command": reflect.TypeFor[Command](), "gpu": reflect.TypeFor[GPU](), "fact": reflect.TypeFor[Fact](),
		"event": reflect.TypeFor[Event](), "series": reflect.TypeFor[Series](), "source": reflect.TypeFor[Source](),
		"clock": reflect.TypeFor[Clock](), "coverage": reflect.TypeFor[Coverage](),
	}
	for name, o := range schema.Defs {
		if name == "time" {
			continue
		}
		if types[name] == nil {
			t.Errorf("schema defines %q, which is no type", name)
			continue
		}
		check(name, o, types[name])
	}
	if got, want := len(schema.Defs)-1, len(types); got != want {
		t.Errorf("schema defines %d objects, want %d", got, want)
	}
}

func TestJSONReadsBack(t *testing.T) {
	for name, doc := range documents() {
		var back Document
		if err := json.Unmarshal(toJSON(t, doc), &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// A list left out because it is empty reads back as nil.
		if diff := cmp.Diff(&back, doc, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: read (-) and written (+) differ:\n%s", name, diff)
		}
	}
}

func TestJSONHasNoNullLists(t *testing.T) {
	tl := &timeline.Timeline{Run: &forensics.Run{}}
	text := string(toJSON(t, Freeze(tl, &forensics.Diagnosis{}, Tool{})))
	if strings.Contains(text, "null") {
		t.Errorf("the empty document has a null:\n%s", text)
	}
}

func TestJSONNumbers(t *testing.T) {
	p := Point{Metrics: map[string]Number{
		"a": Number(math.NaN()), "b": Number(math.Inf(1)), "c": Number(math.Inf(-1)), "d": 0, "e": 1.5,
	}}
	got, err := json.Marshal(p.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":null,"b":null,"c":null,"d":0,"e":1.5}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRate(t *testing.T) {
	for in, want := range map[string]string{
		"inf": `"inf"`, "Infinity": `"inf"`, "trace": `"trace"`, "": "null", "nan": "null", "fast": "null",
		"4": "4", "4.0": "4", "0.25": "0.25", "1e3": "1000", "-1": "null", "0x1p4": "16",
	} {
		got, err := json.Marshal(ParseRate(in))
		if err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v, want %s", in, got, err, want)
		}
	}
}

func TestIndentJSON(t *testing.T) {
	in := `{"a":[],"b":{},"c":[1,null,-2.5e+3],"d":["x,]{","\"[\\"],"e":[[1,2],{"f":true}]}`
	want := strings.Join([]string{
		`{`, `  "a": [],`, `  "b": {},`, `  "c": [1, null, -2.5e+3],`, `  "d": [`, `    "x,]{",`, `    "\"[\\"`, `  ],`,
		`  "e": [`, `    [1, 2],`, `    {`, `      "f": true`, `    }`, `  ]`, `}`,
	}, "\n")
	var b bytes.Buffer
	indentJSON(&b, []byte(in))
	if diff := cmp.Diff(b.String(), want); diff != "" {
		t.Error(diff)
	}
}

func TestFreezeBounds(t *testing.T) {
	tl, d := crashRun()
	long := strings.Repeat("ä", 5000)
	d.Root.Evidence[0].Text = long + "the end"
	for i := range 500 {
		d.Symptoms = append(d.Symptoms, forensics.Finding{
			Class: "x", Title: strconv.Itoa(i) + long, Evidence: []forensics.Quote{quote(0, 5000+i, "%s", long)},
		})
	}
	for i := range 20 {
		d.Root.Evidence = append(d.Root.Evidence, quote(0, 4200+i, "more"))
	}
	doc := Freeze(tl, d, testTool)
	if n := len(doc.Timeline); n != maxKeyEvents {
		t.Errorf("%d key events, want %d", n, maxKeyEvents)
	}
	if n := len(doc.Symptoms); n != maxFindings || !doc.Truncated {
		t.Errorf("%d symptoms, truncated %v, want %d, true", n, doc.Truncated, maxFindings)
	}
	if n := len(doc.RootCause.Evidence); n != maxEvidence {
		t.Errorf("%d lines of evidence, want %d", n, maxEvidence)
	}
	text := doc.RootCause.Evidence[0].Text
	if n := utf8.RuneCountInString(text); n != maxText || !strings.HasSuffix(text, "the end") {
		t.Errorf("evidence has %d runes and ends in %q", n, text[len(text)-10:])
	}
	if err := validate(t, toJSON(t, doc)); err != nil {
		t.Error(err)
	}
}

func TestFreezeKeyEvents(t *testing.T) {
	doc := documents()["crash"]
	if !slices.IsSortedFunc(doc.Timeline, func(a, b Event) int { return strings.Compare(a.Time, b.Time) }) {
		t.Error("key events are not in order of time")
	}
	for _, want := range []string{"launch: weights", "ready to serve", "benchmark point concurrency 256 starts"} {
		if !slices.ContainsFunc(doc.Timeline, func(e Event) bool { return e.Text == want }) {
			t.Errorf("no key event %q", want)
		}
	}
	root := slices.IndexFunc(doc.Timeline, func(e Event) bool { return e.Class == "attention.metadata" })
	if root < 0 || doc.Timeline[root].Evidence.Line != 4109 {
		t.Errorf("the root cause is no key event, or another line stands for it: %+v", doc.Timeline)
	}
}

func TestFreezeDates(t *testing.T) {
	tl, d := crashRun()
	d.Root.Evidence = append(d.Root.Evidence, quote(0, 4111, "an undated line behind the traceback"))
	doc := Freeze(tl, d, testTool)
	i := slices.IndexFunc(doc.Timeline, func(e Event) bool { return e.Evidence.Line == 4111 })
	if i < 0 {
		t.Fatal("the undated line is no key event")
	}
	if got, want := doc.Timeline[i].Time, doc.RootCause.Time; got != want || !doc.Timeline[i].Placed {
		t.Errorf("undated line: time %q, placed %v, want %q, true", got, doc.Timeline[i].Placed, want)
	}
}

func TestFreezeFoldsRanks(t *testing.T) {
	tl, d := healthyRun()
	life := tl.Lives[0]
	tl.Lives = nil
	for r := range 8 {
		l := life
		l.Proc.Rank = "TP" + string(rune('0'+r))
		l.Phases = slices.Clone(life.Phases)
		for i := range l.Phases {
			l.Phases[i].At.Pos.Line += r * 100
		}
		l.ReadyAt.Pos.Line += r * 100
		tl.Lives = append(tl.Lives, l)
	}
	doc := Freeze(tl, d, testTool)
	n, count := 0, 0
	for _, e := range doc.Timeline {
		if e.Text == "launch: weights" {
			n++
			count += e.Count
		}
	}
	if n != 1 || count != 8 {
		t.Errorf("the launch phase of 8 ranks makes %d events of %d, want 1 of 8", n, count)
	}
}

func TestFreezeNotable(t *testing.T) {
	tl, d := crashRun()
	tl.Config[0].Values["port"] = "30000"
	d.Summary += " The port was free."
	got := Freeze(tl, d, testTool).Config.Notable
	if diff := cmp.Diff(got, []string{"chunked_prefill_size"}); diff != "" {
		t.Errorf("notable keys (-got +want):\n%s", diff)
	}
}

func TestNaturalCompare(t *testing.T) {
	got := []string{"GPU 10", "GPU 2", "DP1 TP3", "DP1 TP12", "GPU 02", "", "GPU"}
	slices.SortFunc(got, naturalCompare)
	want := []string{"", "DP1 TP3", "DP1 TP12", "GPU", "GPU 2", "GPU 02", "GPU 10"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}
