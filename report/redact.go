package report

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The levels of redaction.
const (
	RedactOff     = "off"
	RedactSecrets = "secrets" // keys, tokens, passwords
	RedactStrict  = "strict"  // also hosts, addresses, users, paths, prompts
)

// Redaction is what was masked in a document.
type Redaction struct {
	Level string         `json:"level"`
	Kinds []RedactedKind `json:"kinds"`
}

// RedactedKind counts one kind: how many different values, at how many places.
type RedactedKind struct {
	Kind   string `json:"kind"`
	Values int    `json:"values"`
	Places int    `json:"places"`
}

// compiledRule is a rule ready to use.
type compiledRule struct {
	*redactRule
	re *regexp.Regexp
}

var compiledRules = sync.OnceValue(func() []compiledRule {
	out := make([]compiledRule, len(redactRules))
	for i := range redactRules {
		p := redactRules[i].pattern
		if rest, ok := strings.CutPrefix(p, `\b(`); ok { // an escaped line break is a word's end, too
			p = `(?:\b|\\[nrt])(` + rest
		}
		out[i] = compiledRule{&redactRules[i], regexp.MustCompile(`(?s)` + p)}
	}
	return out
})

// Redactor masks what must not be shared. Equal values get equal masks as long as
// one Redactor is used. It is used in two passes: [Redactor.Learn] sees every text
// first, so that a name found in one place is masked in all, then
// [Redactor.Text] masks. It is not safe for concurrent use.
type Redactor struct {
	level string
	rules []compiledRule

	names   map[string]string // value to pseudonym
	numbers map[string]int    // highest pseudonym per prefix
	values  map[string]string // every masked value, with its kind
	places  map[string]int    // masked places per kind
	learned map[string]string // value to kind, masked wherever it stands
	bare    *regexp.Regexp    // finds learned values; nil when it must be built
	quiet   bool              // learning: nothing is counted
}

// NewRedactor returns a Redactor of a level.
func NewRedactor(level string) (*Redactor, error) {
	r := &Redactor{
		level: level, names: map[string]string{}, numbers: map[string]int{}, values: map[string]string{},
		places: map[string]int{}, learned: map[string]string{},
	}
	switch level {
	case RedactOff:
	case RedactSecrets, RedactStrict:
		for _, c := range compiledRules() {
			if c.name == "" || level == RedactStrict {
				r.rules = append(r.rules, c)
			}
		}
	default:
		return nil, fmt.Errorf("redaction level %q is not known: use off, secrets or strict", level)
	}
	return r, nil
}

// Learn looks for names in a text without masking it.
func (r *Redactor) Learn(s string) {
	if r.level != RedactStrict {
		return
	}
	r.quiet = true
	r.applyRules(s)
	r.quiet = false
}

// Text masks a text of one or more lines.
func (r *Redactor) Text(s string) string {
	if len(r.rules) == 0 || s == "" {
		return s
	}
	return r.maskLearned(r.applyRules(s))
}

func (r *Redactor) applyRules(s string) string {
	lower := strings.ToLower(s)
	for i := range r.rules {
		c := &r.rules[i]
		if !c.mayMatch(s, lower) {
			continue
		}
		if out := r.apply(c, s); out != s {
			s, lower = out, strings.ToLower(out)
		}
	}
	return s
}

// mayMatch tells cheaply that a rule finds nothing.
func (c *compiledRule) mayMatch(s, lower string) bool {
	return hasWord(lower, c.words) && (c.quick == nil || c.quick(s))
}

func hasWord(lower string, words []string) bool {
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
}

// apply masks what one rule finds.
func (r *Redactor) apply(c *compiledRule, s string) string {
	var b strings.Builder
	done := 0
	for pos := 0; pos < len(s); {
		m := c.re.FindStringSubmatchIndex(s[pos:])
		if m == nil {
			break
		}
		from, to := takenGroup(m)
		from, to = from+pos, to+pos
		// The next search begins behind the value, not behind the match: what
		// ended this one may begin the next.
		pos = max(to, pos+1)
		v := s[from:to]
		if v == "" || isPseudonym(v) || c.keep != nil && c.keep(v) {
			continue
		}
		b.WriteString(s[done:from])
		b.WriteString(r.mask(c, v))
		done = to
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// takenGroup is the first group that took part, or the whole match.
func takenGroup(m []int) (from, to int) {
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

func (r *Redactor) mask(c *compiledRule, v string) string {
	if c.learn && r.learned[v] == "" {
		r.learned[v], r.bare = c.kind, nil
	}
	switch {
	case c.mask != nil:
		return c.mask(r, v)
	case c.name != "":
		return r.pseudonym(c.kind, c.name, v)
	}
	r.count(c.kind, v)
	return redactedMark + c.kind
}

func (r *Redactor) count(kind, v string) {
	r.values[v] = kind
	if !r.quiet {
		r.places[kind]++
	}
}

// pseudonym is the stable name of a value.
func (r *Redactor) pseudonym(kind, prefix, v string) string {
	r.count(kind, v)
	key := prefix + "\x00" + v
	if r.names[key] == "" {
		r.numbers[prefix]++
		r.names[key] = fmt.Sprintf("%s-%d", prefix, r.numbers[prefix])
	}
	return r.names[key]
}

// maskPath keeps the end of a path that belongs to a package.
func (r *Redactor) maskPath(v string) string {
	if i := strings.Index(v, "path-"); i >= 0 && i <= 1 && isPseudonym(strings.SplitN(v[i:], "/", 2)[0]) {
		return v
	}
	tail := ""
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~") || strings.HasPrefix(v, ".") {
		tail = keptTail(v)
	}
	root := ""
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~") {
		root = "/"
	}
	head := strings.TrimSuffix(v, tail)
	if head == "" {
		return v
	}
	return root + r.pseudonym("path", "path", strings.TrimRight(head, "/")) + tail
}

// maskLearned masks names that some rule found elsewhere.
func (r *Redactor) maskLearned(s string) string {
	if len(r.learned) == 0 {
		return s
	}
	if r.bare == nil {
		r.bare = bareNames(r.learned)
	}
	return r.bare.ReplaceAllStringFunc(s, func(v string) string {
		kind := r.learned[v]
		if kind == "path" {
			return r.maskPath(v)
		}
		return r.pseudonym(kind, kind, v)
	})
}

// bareNames finds the learned names as whole words, the longest first.
func bareNames(learned map[string]string) *regexp.Regexp {
	names := sortedKeys(learned)
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	for i, n := range names {
		q := regexp.QuoteMeta(n)
		if wordAt(n, 0) {
			q = `\b` + q
		}
		if wordAt(n, len(n)-1) {
			q += `\b`
		}
		names[i] = q
	}
	return regexp.MustCompile(strings.Join(names, "|"))
}

// Summary says what was masked so far.
func (r *Redactor) Summary() *Redaction {
	out := &Redaction{Level: r.level, Kinds: []RedactedKind{}}
	values := map[string]int{}
	for _, kind := range r.values {
		values[kind]++
	}
	for _, kind := range sortedKeys(r.places) {
		out.Kinds = append(out.Kinds, RedactedKind{Kind: kind, Values: values[kind], Places: r.places[kind]})
	}
	return out
}

// LearnDocument looks for names in a document; see [Redactor.Learn].
func (r *Redactor) LearnDocument(doc *Document) {
	eachText(reflect.ValueOf(doc).Elem(), "", func(key, s string) string {
		r.Learn(s)
		if key != "" && key != ownKey {
			r.Learn(key + "='" + s + "'")
		}
		return s
	})
}

// Document returns a copy of the document with everything masked and the summary
// filled in; at [RedactOff] it returns the document itself.
func (r *Redactor) Document(doc *Document) *Document {
	if r.level == RedactOff {
		return doc
	}
	r.LearnDocument(doc)
	out := eachText(reflect.ValueOf(doc).Elem(), "", r.field).Interface().(Document)
	out.Redaction = r.Summary()
	return &out
}

// field masks the value of a field or of a map's key. The name of an option says
// what its value is, so both are looked at together.
func (r *Redactor) field(key, s string) string {
	switch {
	case key == ownKey:
		return r.applyRules(s)
	case key == "" || s == "":
		return r.Text(s)
	}
	s = r.Text(s)
	if strings.ContainsAny(s, `'"\`) { // nothing can be told from an assignment
		if secretKey().MatchString(key) && !isNoSecret(s) && !isPseudonym(s) {
			r.count("assigned-secret", s)
			return redactedMark + "assigned-secret"
		}
		return s
	}
	lead := key + "='"
	return strings.TrimSuffix(strings.TrimPrefix(r.Text(lead+s+"'"), lead), "'")
}

// secretKey tells the name of an option whose value is a secret.
var secretKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^-*` + secretNames + `$`) })

// ownFields hold words of the program's own. The rules run over them all the same,
// but a name that was learned elsewhere may be one of these words.
var ownFields = map[string]bool{
	"Schema": true, "Outcome": true, "Class": true, "Signature": true, "Confidence": true, "ExplainedBy": true, "Time": true,
	"Start": true, "End": true, "Ready": true, "Digest": true, "Format": true, "Unit": true, "Status": true, "Stop": true,
	"Kind": true, "Role": true, "Engine": true,
}

// fixedFields are never touched: no text that was read gets into them. References
// are addresses from the signatures.
var fixedFields = map[string]bool{"Tool": true, "Redaction": true, "RequestRate": true, "References": true}

// ownKey leads to the text of one of ownFields.
const ownKey = "\x00own"

// eachText copies a value and passes every text in it through f, maps in the order
// of their keys. key is the map key that leads to the text, if any.
func eachText(v reflect.Value, key string, f func(key, s string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(f(key, v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			switch {
			case fixedFields[name]:
			case ownFields[name]:
				out.Field(i).Set(eachText(v.Field(i), ownKey, f))
			default:
				out.Field(i).Set(eachText(v.Field(i), "", f))
			}
		}
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Float64 {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(eachText(v.Index(i), key, f))
		}
	case reflect.Map:
		if v.IsNil() || v.Type().Elem().Kind() != reflect.String {
			break
		}
		out.Set(reflect.MakeMap(v.Type()))
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			out.SetMapIndex(eachText(k, "", f), eachText(v.MapIndex(k), k.String(), f))
		}
	}
	return out
}
