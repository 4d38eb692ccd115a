package report

import "slices"

// ComparisonSchema names the JSON form of a [Comparison].
const ComparisonSchema = "forensics.comparison/v1"

// Comparison is what changed from a base run to a head run. Package analysis makes
// it of two documents; it is frozen like a document, and its lists are never nil.
type Comparison struct {
	Schema  string `json:"schema"`
	Summary string `json:"summary"`
	// Regression is set if head is clearly slower than base at a common point.
	Regression bool `json:"regression"`

	Base Side `json:"base"`
	Head Side `json:"head"`

	Config []Difference `json:"config"`
	Env    []Difference `json:"environment"`

	Points   []PointDiff `json:"points"` // common to both, in base's order
	OnlyBase []string    `json:"only_base"`
	OnlyHead []string    `json:"only_head"`

	Divergence   *Divergence `json:"divergence"`
	NewFailures  []Finding   `json:"new_failures"`
	GoneFailures []Finding   `json:"gone_failures"`
	Notes        []string    `json:"notes"`
}

// Side is one of the two runs.
type Side struct {
	Run     string `json:"run"`
	Outcome string `json:"outcome"`
	Class   string `json:"root_cause"`
	Title   string `json:"title"`
	Engine  string `json:"engine"`
	Version string `json:"version"`
}

// Difference is a value that is not the same in both runs; a side that has none
// has "". Matters says that the value is known to change results or is spoken of
// by a diagnosis, and Why says which.
type Difference struct {
	Name    string `json:"name"`
	Base    string `json:"base"`
	Head    string `json:"head"`
	Matters bool   `json:"matters"`
	Why     string `json:"why,omitempty"`
}

// PointDiff compares the points of the same parameters.
type PointDiff struct {
	Label       string `json:"label"`
	Concurrency *int   `json:"max_concurrency"`
	RequestRate Rate   `json:"request_rate"`
	Lengths     string `json:"lengths"`
	// BaseRuns and HeadRuns count the points that served all their requests; only
	// they are compared. Note says what was left out.
	BaseRuns int          `json:"base_runs"`
	HeadRuns int          `json:"head_runs"`
	Note     string       `json:"note,omitempty"`
	Metrics  []MetricDiff `json:"metrics"`
}

// MetricDiff compares one metric. Change is head's share of base less one. P is
// the probability that chance alone makes such a difference, null with fewer than
// two runs on a side, since one sample proves nothing.
type MetricDiff struct {
	Name    string `json:"name"`
	Base    Number `json:"base"`
	Head    Number `json:"head"`
	Change  Number `json:"change"`
	P       Number `json:"p"`
	Verdict string `json:"verdict"` // "better", "worse", "same" or "unproven"
}

// Divergence is where the key events of the two runs first differ. A side whose
// events ended has the zero Event.
type Divergence struct {
	After string `json:"after"` // the last event in common
	Base  Event  `json:"base"`
	Head  Event  `json:"head"`
}

// IsUsualOption reports whether a start-up option is one of those that reports show
// unfolded, because it is known to change results.
func IsUsualOption(name string) bool { return slices.Contains(usualKeys, name) }
