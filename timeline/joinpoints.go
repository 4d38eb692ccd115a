package timeline

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// inRunOrder sorts runs of several sources into the order they were run: by time
// where both have one; a client that nobody let in comes after those that were
// served, since a server does not come back unseen; else by path.
func inRunOrder(ds []*draft) {
	served := map[int]bool{}
	for _, d := range ds {
		if d.table {
			served[d.source] = true
		}
	}
	slices.SortStableFunc(ds, func(a, b *draft) int {
		if a.source == b.source {
			return 0
		}
		if a.when != 0 && b.when != 0 {
			return cmp.Compare(a.when, b.when)
		}
		if n := byNumber(a.path, b.path); n != 0 {
			return n
		}
		if served[a.source] != served[b.source] {
			if served[a.source] {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.source, b.source)
	})
}

// byNumber orders paths that differ in one number only by that number: bench2.log
// before bench10.log. It returns 0 for others.
func byNumber(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && isDigit(a[i-1]) {
		i--
	}
	j, k := i, i
	for j < len(a) && isDigit(a[j]) {
		j++
	}
	for k < len(b) && isDigit(b[k]) {
		k++
	}
	x, okA := atoi(a[i:j])
	y, okB := atoi(b[i:k])
	if !okA || !okB || a[j:] != b[k:] {
		return 0
	}
	return cmp.Compare(x, y)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// joinSources joins the runs that several sources tell of: a table and the
// result file's object of the same run; standard output and standard error.
func joinSources(t *Timeline, order []int, bySource map[int][]*draft) []*draft {
	var main, records []*draft
	for _, src := range order {
		for _, d := range bySource[src] {
			if d.record {
				records = append(records, d)
			} else {
				main = append(main, d)
			}
		}
	}
	main = joinStreams(t, main)
	for _, r := range records {
		if m := matchRecord(main, r); m != nil {
			m.absorb(r)
		} else {
			main = append(main, r)
		}
	}
	return main
}

// matchRecord finds the run whose table shows the numbers of a record, else the
// only run without a summary that has its parameters.
func matchRecord(ds []*draft, r *draft) *draft {
	for _, d := range ds {
		if d.table && !d.record && sameNumbers(d, r) {
			return d
		}
	}
	var fit *draft
	for _, d := range ds {
		if !d.table && d.started && !d.Refused && d.errLine.Pos.Line == 0 && d.MaxConcurrency == r.MaxConcurrency &&
			(d.NumPrompts == 0 || r.Completed <= d.NumPrompts) && path.Dir(sourceKey(d)) == path.Dir(sourceKey(r)) {
			if fit != nil {
				return nil
			}
			fit = d
		}
	}
	return fit
}

func sourceKey(d *draft) string { return strconv.Itoa(d.source) }

// sameNumbers compares a table, which is rounded to two decimals, with a record.
func sameNumbers(d, r *draft) bool {
	same := 0
	for k, x := range d.Metrics {
		y, ok := r.Metrics[k]
		if !ok {
			continue
		}
		if math.Abs(x-y) > 0.0051 {
			return false
		}
		if x != 0 {
			same++
		}
	}
	if d.Completed >= 0 && r.Completed >= 0 && d.Completed != r.Completed {
		return false
	}
	return same >= 2 || d.Completed == 0 && r.Completed == 0
}

// absorb takes over what another account of the same run adds.
func (d *draft) absorb(o *draft) {
	for k, x := range o.Metrics {
		d.Metrics[k] = x
	}
	for k, v := range o.Params {
		if d.Params[k] == "" {
			d.Params[k] = v
		}
	}
	if o.table {
		d.table = true
		if d.EndAt.Pos.Line == 0 {
			d.EndAt = o.EndAt
		}
		if len(d.Proof) == 0 {
			d.Proof = o.Proof
		}
	}
	d.MaxConcurrency = cmp.Or(d.MaxConcurrency, o.MaxConcurrency)
	d.RequestRate = cmp.Or(d.RequestRate, o.RequestRate)
	d.NumPrompts = cmp.Or(d.NumPrompts, o.NumPrompts)
	d.Client = cmp.Or(d.Client, o.Client)
	d.Completed = max(d.Completed, o.Completed)
	d.Failed = max(d.Failed, o.Failed)
	d.done, d.total = max(d.done, o.done), max(d.total, o.total)
	d.Refused = d.Refused || o.Refused
	d.asked = d.asked || o.asked
	if d.errLine.Pos.Line == 0 {
		d.errLine = o.errLine
	}
	if !d.HasExit {
		d.Exit, d.HasExit = o.Exit, o.HasExit
	}
	if stepOrder[o.step] > stepOrder[d.step] {
		d.step = o.step
	}
	if !slices.Contains(d.Sources, o.source) {
		d.Sources = append(d.Sources, o.source)
		slices.Sort(d.Sources)
	}
}

// joinStreams joins the runs of a client's standard error (bars, tracebacks, no
// arguments) with those of its standard output, by the files' common name.
func joinStreams(t *Timeline, ds []*draft) []*draft {
	stem := func(d *draft) string {
		p := t.Run.Sources[d.source].Path
		return strings.TrimSuffix(p, path.Ext(p))
	}
	headless := func(d *draft) bool {
		return !d.table && d.Params["backend"] == "" && d.Client == "" && d.MaxConcurrency == 0 && d.Label == ""
	}
	var out []*draft
	for _, d := range ds {
		if !headless(d) {
			out = append(out, d)
		}
	}
	used := map[*draft]bool{}
	for _, d := range ds {
		if !headless(d) {
			continue
		}
		var to *draft
		for _, o := range out {
			if o.source != d.source && stem(o) == stem(d) && !used[o] {
				to = o
				break
			}
		}
		if to == nil {
			out = append(out, d)
			continue
		}
		used[to] = true
		to.absorb(d)
	}
	return out
}
