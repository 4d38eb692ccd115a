package timeline

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// draft is a client run being put together from the lines of one source.
type draft struct {
	Point
	source  int
	path    string
	when    int64  // time of its first line, 0 if it has none of its own
	step    string // the furthest step reached
	table   bool   // a summary table or record was seen
	record  bool   // it comes from a result file
	asked   bool   // it had sent all requests and then found the server gone
	cut     bool   // the result file's object is cut
	started bool   // arguments, plan or progress seen: a run, not only a result
	done    float64
	total   float64
	errLine forensics.Quote
}

// stepOrder ranks the steps of a run.
var stepOrder = map[string]int{
	forensics.StepStart: 1, forensics.StepNotReady: 2, forensics.StepPlanned: 2, forensics.StepWarmup: 3,
	forensics.StepWarmupDone: 4, forensics.StepMain: 5, forensics.StepProgress: 6, forensics.StepResult: 7, forensics.StepRecord: 7,
}

// buildPoints puts client runs together: the runs that each source tells of, one
// after another, then the same run told by several sources joined.
func buildPoints(t *Timeline) []Point {
	bySource := map[int][]*draft{}
	var order []int
	for src := range t.Run.Sources {
		ds := sourceDrafts(t, src)
		if len(ds) > 0 {
			bySource[src] = ds
			order = append(order, src)
		}
	}
	joined := joinSources(t, order, bySource)
	inRunOrder(joined)
	points := make([]Point, 0, len(joined))
	for i, d := range joined {
		d.settle()
		d.Order = i
		points = append(points, d.Point)
	}
	return points
}

// sourceEvents returns the events of one source that tell of client runs, in
// line order.
func sourceEvents(t *Timeline, src int) []*Event {
	var out []*Event
	for _, e := range t.Events {
		if e.Pos.Source != src {
			continue
		}
		switch e.Kind {
		case forensics.KindBench, forensics.KindEcho:
			out = append(out, e)
		case forensics.KindTraceback, forensics.KindExit, forensics.KindCommand:
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *Event) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Offset, b.Pos.Offset))
	})
	return out
}

// sourceDrafts cuts the events of a source into runs.
func sourceDrafts(t *Timeline, src int) []*draft {
	var ds []*draft
	var cur *draft
	filter, echo := "", (*Event)(nil)
	begin := func(e *Event) *draft {
		cur = &draft{source: src, path: t.Run.Sources[src].Path, when: ownTime(e), Point: Point{Completed: -1, Failed: -1, Metrics: map[string]float64{}, Params: map[string]string{}, Sources: []int{src}, At: e.Quote(), Filtered: filter}}
		if echo != nil {
			cur.applyEcho(echo)
			echo = nil
		}
		ds = append(ds, cur)
		return cur
	}
	for _, e := range sourceEvents(t, src) {
		switch e.Kind {
		case forensics.KindCommand:
			if e.Attr("starts") == "client" || strings.Contains(e.Attr("argv"), "bench") {
				filter, cur = e.Attr("filter"), nil
			}
		case forensics.KindEcho:
			if echo != nil && echo.Attr("max_concurrency") != "" && e.Attr("max_concurrency") != "" {
				begin(e) // the point announced before printed nothing at all
			}
			echo, cur = e, nil
		case forensics.KindBench:
			if cur == nil || cur.over(e) {
				begin(e)
			}
			cur.add(e)
		case forensics.KindTraceback:
			client := e.Proc.Role == forensics.RoleClient || e.Proc.Role == "" && t.Run.Sources[src].Role == forensics.RoleClient
			if client && cur == nil && (len(ds) == 0 || echo != nil) {
				begin(e)
			}
			if cur != nil && client {
				cur.traceback(e)
			}
		case forensics.KindExit:
			if code, ok := atoi(e.Attr("code")); ok && cur != nil && e.Attr("what") != "server" {
				cur.Exit, cur.HasExit = code, true
			}
		}
	}
	if echo != nil && len(ds) > 0 {
		// An announcement with nothing after it: the point printed nothing at all.
		d := &draft{source: src, Point: Point{Completed: -1, Failed: -1, Metrics: map[string]float64{}, Params: map[string]string{}, Sources: []int{src}, At: echo.Quote(), Filtered: filter}}
		d.applyEcho(echo)
		ds = append(ds, d)
	}
	return ds
}

// ownTime returns the time of an event that printed one itself.
func ownTime(e *Event) int64 {
	if e.Placed {
		return 0
	}
	return e.When
}

// over reports whether a step cannot belong to the same run as those before.
func (d *draft) over(e *Event) bool {
	step := e.Attr("step")
	switch step {
	case forensics.StepStart:
		return d.step != "" && !(stepOrder[d.step] <= 1 && !d.HasExit)
	case forensics.StepRecord:
		return true
	case forensics.StepEnd, forensics.StepError:
		return false
	case forensics.StepPlanned:
		// Input and output counts are printed one after the other.
		return stepOrder[d.step] > stepOrder[forensics.StepPlanned] || d.HasExit || d.step == step && d.sameCount(e)
	case forensics.StepResult:
		return d.table || d.HasExit
	case forensics.StepProgress:
		return false
	}
	return d.table || d.HasExit
}

func (d *draft) sameCount(e *Event) bool {
	for _, v := range e.Values {
		if _, have := d.Params["planned_"+v.Name]; have {
			return true
		}
	}
	return false
}

func (d *draft) applyEcho(e *Event) {
	d.At = e.Quote()
	d.Label = strings.Trim(e.Text, " =-#*>")
	if n, ok := atoi(e.Attr("max_concurrency")); ok {
		d.MaxConcurrency = n
	}
	if n, ok := atoi(e.Attr("num_prompts")); ok {
		d.NumPrompts = n
	}
	if r := e.Attr("request_rate"); r != "" {
		d.RequestRate = r
	}
}

// add takes one step of the run.
func (d *draft) add(e *Event) {
	step := e.Attr("step")
	if stepOrder[step] >= stepOrder[d.step] {
		d.step = step
	}
	d.params(e)
	switch step {
	case forensics.StepStart, forensics.StepMain, forensics.StepWarmup:
		d.started = true
	case forensics.StepPlanned:
		d.started = true
		for _, v := range e.Values {
			d.Params["planned_"+v.Name] = strconv.FormatFloat(v.X, 'f', -1, 64)
		}
	case forensics.StepNotReady:
		d.started, d.Refused = true, true
		d.errLine = e.Quote()
	case forensics.StepProgress:
		d.started = true
		if x, ok := e.Value(forensics.ValDone); ok {
			d.done = max(d.done, x)
		}
		if x, ok := e.Value(forensics.ValTotal); ok {
			d.total = max(d.total, x)
		}
	case forensics.StepResult, forensics.StepRecord:
		d.result(e, step == forensics.StepRecord)
	case forensics.StepError:
		d.errLine = e.Quote()
		d.Refused = d.Refused || refusal(e.Raw+e.Attr("message"))
	case forensics.StepEnd:
		if code, ok := atoi(e.Attr("code")); ok {
			d.Exit, d.HasExit = code, true
		}
	}
}

// keptParams are the parameters worth showing.
var keptParams = []string{
	"backend", "dataset_name", "model", "random_input_len", "random_output_len", "input_len", "output_len",
	"random_range_ratio", "tag", "host", "port", "base_url", "errors", "error", "batch_size",
}

func (d *draft) params(e *Event) {
	for _, k := range keptParams {
		if v := e.Attr(k); v != "" && v != "None" {
			d.Params[k] = v
		}
	}
	if c := e.Attr("client"); c != "" {
		d.Client = c
	}
	if n, ok := atoi(e.Attr("max_concurrency")); ok && n > 0 {
		d.MaxConcurrency = n
	}
	if n, ok := atoi(e.Attr("num_prompts")); ok && n > 0 {
		d.NumPrompts = n
	}
	if r := e.Attr("request_rate"); r != "" && r != "None" {
		d.RequestRate = normalRate(r)
	}
}

// normalRate writes request rates one way: "inf", "trace" or a number.
func normalRate(r string) string {
	switch strings.ToLower(r) {
	case "inf", "infinity":
		return "inf"
	}
	if x, err := strconv.ParseFloat(r, 64); err == nil {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return r
}

// result takes a summary: a table or an object of a result file.
func (d *draft) result(e *Event, record bool) {
	d.table, d.record = true, record
	d.cut = record && e.Attr("cut") != ""
	d.EndAt, d.Proof = e.Quote(), e.Quotes
	if len(d.Proof) > 0 {
		d.EndAt = d.Proof[0]
	}
	for _, v := range e.Values {
		switch v.Name {
		case "completed":
			d.Completed = int(v.X)
		case "failed":
			d.Failed = int(v.X)
		case "num_prompts":
			d.NumPrompts = int(v.X)
		}
		if !math.IsNaN(v.X) && !math.IsInf(v.X, 0) {
			d.Metrics[v.Name] = v.X
		}
	}
}

// refusals are the errors of a client that nobody let in.
var refusals = []string{"Connection refused", "Connect call failed", "Cannot connect to host", "Failed to establish a new connection", "All connection attempts failed", "Name or service not known"}

func (d *draft) traceback(e *Event) {
	x := e.Trace.Last()
	if x == nil {
		return
	}
	q := forensics.Quote{Pos: x.Pos, Text: x.Text}
	d.errLine = q
	all := ""
	for i := range e.Trace.Chain {
		all += e.Trace.Chain[i].Message + "\n"
	}
	d.Refused = d.Refused || refusal(all)
	// The client asks for the server's settings after its last request.
	d.asked = d.asked || strings.Contains(all, "server_info")
}

func refusal(text string) bool {
	return slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(text, r) })
}

// settle derives the status from what the run itself printed.
func (d *draft) settle() {
	d.Error = d.errLine
	if d.NumPrompts == 0 && d.total > 0 {
		d.NumPrompts = int(d.total)
	}
	if d.NumPrompts == 0 && d.Completed >= 0 && d.Failed > 0 {
		d.NumPrompts = d.Completed + d.Failed
	}
	switch {
	case d.table:
		d.settleTable()
	case d.asked:
		d.Status, d.Why = PointDied, "the requests had been sent when the server was gone, and no summary follows"
	case stepOrder[d.step] >= stepOrder[forensics.StepMain]:
		d.Status, d.Why = PointDied, "the requests had begun, and no summary follows"
	case stepOrder[d.step] >= stepOrder[forensics.StepWarmupDone] && d.errLine.Pos.Line > 0:
		d.Status, d.Why = PointDied, "the warm-up was over, and no summary follows"
	case d.Refused || d.step == forensics.StepNotReady:
		d.Status, d.Why = PointNeverStarted, "the client could not reach the server"
	case d.errLine.Pos.Line > 0:
		d.Status, d.Why = PointNeverStarted, "the client ended with an error before its first request was answered"
	case d.HasExit && d.Exit != 0:
		d.Status, d.Why = PointNeverStarted, "the client ended with exit status "+strconv.Itoa(d.Exit)+" and no summary"
	default:
		d.Status, d.Why = PointUnknown, "the file holds no summary and no error"
	}
	if d.EndAt.Pos.Line == 0 {
		d.EndAt = d.errLine
	}
	d.Lost = d.lost()
}

// lost reports whether the client did not finish: no summary, an exit status
// that is not 0, or an error behind the summary.
func (d *draft) lost() bool {
	switch {
	case !d.table:
		return true
	case d.HasExit:
		return d.Exit != 0
	case d.errLine.Pos.Line == 0 || d.Status == PointCompleted:
		return false
	case d.errLine.Pos.Source == d.EndAt.Pos.Source:
		return d.EndAt.Pos.Before(d.errLine.Pos)
	}
	return true
}

func (d *draft) settleTable() {
	sent := d.NumPrompts
	if d.total > 0 {
		sent = int(d.total)
	}
	if d.Failed < 0 && d.Completed >= 0 && sent >= d.Completed && sent > 0 {
		d.Failed = sent - d.Completed
	}
	switch {
	case d.cut:
		d.Status, d.Why = PointUnknown, "the record in the result file is cut"
	case d.Failed > 0:
		d.Status, d.Why = PointPartial, strconv.Itoa(d.Failed)+" of the requests failed"
	case d.Completed == 0:
		d.Status, d.Why = PointPartial, "no request succeeded"
	default:
		d.Status, d.Why = PointCompleted, "the summary counts all requests as served"
		if d.Failed < 0 {
			d.Why = "a summary was printed; it does not tell failed requests"
		}
	}
}
