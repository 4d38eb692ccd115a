package report

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

func chartNames(t *testing.T, doc *Document) []string {
	t.Helper()
	charts, err := Charts(doc)
	if err != nil {
		t.Fatal(err)
	}
	return mapSlice(charts, func(c Chart) string { return c.Name })
}

func TestChartsNeedData(t *testing.T) {
	docs := documents()
	for name, want := range map[string][]string{
		"crash": {"server-load", "sweep", "gpu"}, "healthy": {"server-load", "sweep"}, "empty": {},
	} {
		if diff := cmp.Diff(chartNames(t, docs[name]), want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
	one := docs["healthy"]
	one.Points = one.Points[:1]
	for i := range one.Series {
		s := &one.Series[i]
		s.Mean, s.Min, s.Max = s.Mean[:1], s.Min[:1], s.Max[:1]
	}
	if got := chartNames(t, one); len(got) != 0 {
		t.Errorf("one point and one sample make the charts %v", got)
	}
}

func TestPanelsNeedData(t *testing.T) {
	doc := documents()["crash"]
	doc.Series = slices.DeleteFunc(doc.Series, func(s Series) bool { return s.Name == forensics.ValGPUPower })
	f, alt := gpuFigure(doc)
	if n := len(f.panels); n != 3 {
		t.Errorf("%d panels without power, want 3", n)
	}
	if strings.Contains(alt, "power") || !strings.Contains(alt, "The run failed at 10:05:31: attention.metadata.") {
		t.Errorf("alternative text: %s", alt)
	}
}

// seriesAt makes a series of 1 s buckets with samples at the given seconds.
func seriesAt(at ...int) *Series {
	s := &Series{StepMs: 1000}
	for i := range at[len(at)-1] + 1 {
		x := Number(math.NaN())
		if slices.Contains(at, i) {
			x = Number(i)
		}
		s.Mean, s.Min, s.Max = append(s.Mean, x), append(s.Min, x-1), append(s.Max, x+1)
	}
	return s
}

func TestRuns(t *testing.T) {
	var sparse []int
	for i := range 30 {
		sparse = append(sparse, 4*i)
	}
	for _, c := range []struct {
		name string
		at   []int
		want []int // samples per run
	}{
		{"dense", []int{0, 1, 2, 3}, []int{4}},
		{"a log line every four seconds has no gaps", sparse, []int{30}},
		{"a pause", []int{0, 1, 2, 3, 4, 5, 40, 41, 42, 43}, []int{6, 4}},
		{"a lone sample behind a pause", []int{0, 1, 2, 3, 4, 5, 40}, []int{6, 1}},
		{"two samples far apart", []int{0, 60}, []int{2}},
	} {
		var got []int
		for _, r := range runsOf(seriesAt(c.at...), 1) {
			got = append(got, len(r.mean))
		}
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", c.name, diff)
		}
	}
}

func TestCombine(t *testing.T) {
	a, b := seriesAt(0, 1, 2, 9), seriesAt(1, 2)
	b.StartMs = 1000 // its samples are at 2 and 3 s
	got := combine([]*Series{a, b})
	want := []Number{0, 1, 1.5, 2}
	if diff := cmp.Diff(got.Mean[:4], want); diff != "" {
		t.Errorf("mean (-got +want):\n%s", diff)
	}
	if got.Min[2] != 0 || got.Max[2] != 3 || got.Mean[5].IsSet() || got.Mean[9] != 9 {
		t.Errorf("least %v, greatest %v, gap %v, last %v", got.Min[2], got.Max[2], got.Mean[5], got.Mean[9])
	}
}

func TestManyLinesFold(t *testing.T) {
	for _, c := range []struct{ gpus, lines int }{{1, 1}, {8, 8}, {9, 1}, {64, 1}} {
		tl := baseRun("x")
		addGPUs(tl, c.gpus, 100, 0, 100)
		f, _ := gpuFigure(Freeze(tl, &forensics.Diagnosis{}, testTool))
		if n := len(f.panels[0].lines); n != c.lines {
			t.Errorf("%d GPUs make %d lines, want %d", c.gpus, n, c.lines)
		}
		said := strings.Contains(f.panels[0].title, fmt.Sprintf("mean of %d GPUs", c.gpus))
		if said != (c.gpus > maxLines) {
			t.Errorf("%d GPUs: title %q", c.gpus, f.panels[0].title)
		}
		if legend := len(f.legend); legend > 0 != (c.gpus > 1 && c.gpus <= maxLines) {
			t.Errorf("%d GPUs have a legend of %d", c.gpus, legend)
		}
	}
}

// checkTicks makes sure that labels do not touch, and that there are enough.
func checkTicks(t *testing.T, name string, a *xAxis, ticks []plot.Tick, width vg.Length) {
	t.Helper()
	end, n := math.Inf(-1), 0
	for _, tick := range ticks {
		if tick.Label == "" {
			continue
		}
		n++
		w := vg.Length(0)
		for line := range strings.SplitSeq(tick.Label, "\n") {
			w = max(w, tickStyle().Width(line))
		}
		x := (tick.Value - a.min) / (a.max - a.min) * float64(width)
		if x-float64(w)/2 < end+4 {
			t.Errorf("%s: label %q touches the one before", name, tick.Label)
		}
		end = x + float64(w)/2
		if x < -1 || x > float64(width)+1 {
			t.Errorf("%s: label %q lies outside", name, tick.Label)
		}
	}
	if n < 2 {
		t.Errorf("%s: %d labels", name, n)
	}
}

func TestTimeTicks(t *testing.T) {
	start := float64(testStart.Unix())
	for _, span := range []time.Duration{
		50 * time.Millisecond, time.Second, 3 * time.Second, 17 * time.Second, time.Minute, 7 * time.Minute, time.Hour,
		5 * time.Hour, 20 * time.Hour, 3 * 24 * time.Hour, 40 * 24 * time.Hour,
	} {
		a := timeAxis(start+0.3, start+0.3+span.Seconds())
		ticks := a.ticks(a, 560)
		checkTicks(t, span.String(), a, ticks, 560)
		if dated := strings.Contains(ticks[0].Label, "\n2026-05-0"); dated != (span > 14*time.Hour) {
			t.Errorf("%s: first label %q", span, ticks[0].Label)
		}
	}
}

func TestCategoryTicks(t *testing.T) {
	for _, n := range []int{2, 3, 12, 40, 100, 3000} {
		var names []string
		for i := range n {
			names = append(names, number(float64(i+1)))
		}
		a := categoryAxis(names, "")
		checkTicks(t, fmt.Sprint(n), a, a.ticks(a, 560), 560)
	}
}

func TestValueTicks(t *testing.T) {
	label := func(ticks []plot.Tick) string {
		return strings.Join(mapSlice(ticks, func(t plot.Tick) string { return t.Label }), " ")
	}
	for hi, want := range map[float64]string{
		0.01: "0.000 0.002 0.004 0.006 0.008 0.010", 1: "0.0 0.2 0.4 0.6 0.8 1.0", 7: "0 2 4 6", 108: "0 50 100",
		5600: "0 2,000 4,000", 0: "0",
	} {
		if got := label(niceTicks(hi, 5)); got != want {
			t.Errorf("up to %v: got %q, want %q", hi, got, want)
		}
	}
	if got, want := label(logTicks(30, 3000)), "50 100 200 500 1,000 2,000"; got != want {
		t.Errorf("logarithmic: got %q, want %q", got, want)
	}
	if got, want := label(logTicks(0.02, 3000)), "0.1 1 10 100 1,000"; got != want {
		t.Errorf("logarithmic: got %q, want %q", got, want)
	}
}

func TestFailureMark(t *testing.T) {
	doc := documents()["crash"]
	f, _ := loadFigure(doc)
	if f.mark == nil || f.mark.label != "failed 10:05:31 attention.metadata" {
		t.Fatalf("mark: %+v", f.mark)
	}
	if want := float64(sec(331)) / 1e9; math.Abs(f.mark.x-want) > 0.001 || f.axis.max < want {
		t.Errorf("mark at %v on an axis to %v, want %v", f.mark.x, f.axis.max, want)
	}
	doc.RootCause.Time = "2026-05-03T10:05:31.000"
	f, _ = loadFigure(doc)
	if want := "failed later 2026-05-03 10:05:31 attention.metadata"; f.mark.label != want {
		t.Errorf("a late failure is marked %q, want %q", f.mark.label, want)
	}
	if f, _ := loadFigure(documents()["healthy"]); f.mark != nil {
		t.Errorf("a healthy run has a mark: %+v", f.mark)
	}
}

func TestPointBoxes(t *testing.T) {
	f, _ := loadFigure(documents()["crash"])
	var labels []string
	for _, b := range f.lanes[0].boxes {
		labels = append(labels, b.label)
		if b.bad != (b.label == "c=256") {
			t.Errorf("box %s: bad %v", b.label, b.bad)
		}
	}
	if diff := cmp.Diff(labels, []string{"c=1", "c=8", "c=32", "c=128", "c=256"}); diff != "" {
		t.Error(diff)
	}
	last := f.lanes[0].boxes[4]
	if last.hi != f.mark.x {
		t.Errorf("the point that died ends at %v, want the failure at %v", last.hi, f.mark.x)
	}
	tl := baseRun("x")
	s := timeline.Series{Name: forensics.ValGenThroughput}
	for i := range 500 {
		s.Add(sec(float64(i*10)), 1)
		tl.Points = append(tl.Points, sweepPoint(i, i+1, float64(i*10)))
	}
	tl.Series = append(tl.Series, s)
	f, _ = loadFigure(Freeze(tl, &forensics.Diagnosis{}, testTool))
	if b := f.lanes[0].boxes; len(b) != 1 || b[0].label != "500 points" {
		t.Errorf("500 points make %d boxes, the first %q", len(b), b[0].label)
	}
}

func TestSweepFigure(t *testing.T) {
	doc := documents()["crash"]
	doc.Points = append([]Point{doc.Points[4]}, doc.Points[:4]...) // order run is not order of size
	f, alt := sweepFigure(doc)
	if diff := cmp.Diff(mapSlice(f.panels[0].crosses, func(c cross) string { return c.label }), []string{"died"}); diff != "" {
		t.Errorf("crosses:\n%s", diff)
	}
	if x := f.panels[0].crosses[0]; x.x != 4 || x.y != 0 {
		t.Errorf("the cross stands at %v, %v", x.x, x.y)
	}
	if n := len(f.panels[0].lines[0].runs[0].mean); n != 4 {
		t.Errorf("%d values, want 4", n)
	}
	want := "Results against max concurrency (requests), 1 to 256; the highest output throughput is 2,813 tok/s at 128; not completed: 256."
	if alt != want {
		t.Errorf("got %q, want %q", alt, want)
	}
	for i := range doc.Points {
		doc.Points[i].MaxConcurrency = nil
		doc.Points[i].RequestRate = Rate(fmt.Sprint(1 << i))
	}
	f, _ = sweepFigure(doc)
	if f.axis.label != "request rate (req/s)" {
		t.Errorf("axis %q", f.axis.label)
	}
}

// TestPNG decodes the pictures and looks for the failure's colour at its place.
func TestPNG(t *testing.T) {
	charts, err := Charts(documents()["crash"])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range charts {
		var b bytes.Buffer
		if err := c.WritePNG(&b); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		red := 0
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, bl, _ := img.At(x, y).RGBA()
				if r>>8 == 0xB3 && g>>8 == 0x2D && bl>>8 == 0 {
					red++
				}
			}
		}
		if img.Bounds().Dx() != 1300 || red < 100 {
			t.Errorf("%s is %d wide with %d pixels of failure", c.Name, img.Bounds().Dx(), red)
		}
	}
}

// TestLooksDiffer makes sure that no two lines look alike without colour.
func TestLooksDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range looks {
		k := fmt.Sprintf("%v %T", l.dashes, l.glyph)
		if seen[k] {
			t.Errorf("two lines with %s", k)
		}
		seen[k] = true
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{{1, "████"}, {0.5, "██"}, {0.28, "█▏"}, {0.001, "▏"}, {0, ""}, {math.NaN(), ""}, {7, "████"}} {
		if got := bar(c.share, 4); got != c.want {
			t.Errorf("%v: got %q, want %q", c.share, got, c.want)
		}
	}
}

func TestSpark(t *testing.T) {
	s := seriesAt(0, 1, 2, 3, 4, 5, 6, 7, 40, 41, 42, 43)
	lo, hi := s.extent()
	got := sparkText(spark([]*Series{s}, lo, hi, 22), 43)
	if want := "▁▁▂▂                ██"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	two := spark([]*Series{s, s}, lo, hi, 22)
	if one := spark([]*Series{s}, lo, hi, 22); two[21] != 2*one[21] {
		t.Errorf("two ranks make %v, one %v", two[21], one[21])
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 7: "7", 1234567: "1,234,567", -1234: "-1,234", 43.1: "43.10", 306.12: "306.1", 0.00123: "0.0012",
		100: "100", 999.96: "1,000", math.Inf(1): "no data",
	} {
		if got := number(x); got != want {
			t.Errorf("%v: got %q, want %q", x, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	seen := map[string]bool{}
	for _, u := range units {
		if seen[u.Name] || u.Title == "" {
			t.Errorf("%q is listed twice or has no title", u.Name)
		}
		seen[u.Name] = true
	}
	for _, q := range slices.Concat(loadQuantities, gpuQuantities) {
		if !seen[q.name] {
			t.Errorf("%s has a panel but no unit", q.name)
		}
	}
	for _, p := range sweepPanels {
		for _, l := range p.lines {
			if UnitOf(l.metric).Unit != p.unit {
				t.Errorf("%s is in %q, its panel in %q", l.metric, UnitOf(l.metric).Unit, p.unit)
			}
		}
	}
}
