package forensics

// Outcome says how the run ended.
type Outcome string

// The outcomes.
const (
	// Completed: every observed point finished with all its requests.
	Completed Outcome = "completed"
	// Degraded: points finished, but with failed requests or below what was possible.
	Degraded Outcome = "degraded"
	// Failed: the server or the client did not finish what it started.
	Failed Outcome = "failed"
	// Inconclusive: the evidence does not say.
	Inconclusive Outcome = "inconclusive"
)

// Confidence says how sure a verdict is; the rules are in package classify.
type Confidence string

// The confidences, strongest first.
const (
	Confirmed Confidence = "confirmed"
	Likely    Confidence = "likely"
	Possible  Confidence = "possible"
)

// Finding is a matched fact: something that happened, of a class, with evidence.
type Finding struct {
	// Class is an id of the taxonomy ("attention.metadata").
	Class string
	// Signature is the id of the signature or rule that found it.
	Signature string
	Title     string
	// Detail says in a sentence what the evidence means here.
	Detail string
	Proc   Process
	// When is the time on the run's axis in Unix nanoseconds, 0 if unknown; Time
	// is then the stamp as printed, if there is one.
	When int64
	Time string
	// Count is how often it was seen, on Ranks ranks.
	Count    int
	Ranks    []string
	Evidence []Quote
	// ExplainedBy is the class of the finding that explains this one, with Why.
	ExplainedBy string
	Why         string
	Remedy      string
	References  []string
	Affected    string
	Fixed       string
	// Fingerprint groups unknown failures that are the same.
	Fingerprint string
}

// Rejected is a hypothesis that lost, and why.
type Rejected struct {
	Class    string
	Title    string
	Reason   string
	Evidence []Quote
}

// Link is one step of the chain from the cause to the last symptom.
type Link struct {
	Class string
	Text  string
	When  int64  // Unix nanoseconds on the run's axis, 0 if unknown
	Time  string // the stamp as printed, for lines that could not be placed
	Quote Quote
}

// Diagnosis is the verdict on a run.
type Diagnosis struct {
	Outcome Outcome
	// Summary is one to three sentences: what happened and why.
	Summary    string
	Root       Finding
	Confidence Confidence
	// Reasons say why the confidence is what it is.
	Reasons  []string
	Symptoms []Finding
	Rejected []Rejected
	// Chain leads from the root cause over its mechanism to the symptoms.
	Chain []Link
	// Earlier are failures of earlier runs in the same folder.
	Earlier []Finding
	// Missing names sources that were not there and what they would settle.
	Missing []string
	// LookedFor names what was looked for and not found.
	LookedFor []string
}
