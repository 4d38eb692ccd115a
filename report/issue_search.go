package report

import (
	"net/url"
	"regexp"
	"strings"
)

// The search query looks for other reports of the same failure. GitHub searches
// for words; a quoted phrase must stand there as it is. What differs from run to
// run (numbers, addresses, paths, names in quotes) would find nothing, so the
// query is the exception's type and the longest phrase without any of these.

var (
	exceptionName = regexp.MustCompile(`\b([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Failure|Timeout))\b:?\s*`)
	linePrefix    = regexp.MustCompile(`^(?:\[[^\]]*\]\s*|\([^)]*\)\s*|[A-Z]+ [\d:.-]+ [\d:.]+ |\d{4}-\d\d-\d\d[T ][\d:.,]+\S*\s+)+`)
	variableText  = regexp.MustCompile(`\S*\d\S*|\S*[/\\=]\S*|\S*[^\x20-\x7E]\S*|["'` + "`" + `<>{}()\[\],;:|*!?#]`)
)

// Bounds of the query: GitHub refuses queries of more than 256 characters.
const (
	maxPhraseWords = 9
	maxPhrase      = 120
)

// searchQuery is the query for duplicates, "" if there is no error text.
func searchQuery(doc *Document) string {
	text := doc.RootCause.Title
	if len(doc.RootCause.Evidence) > 0 {
		text = orElse(doc.RootCause.Evidence[0].Text, text)
	}
	text = linePrefix.ReplaceAllString(bound(clean(text), maxText), "")
	words := []string{"is:issue"}
	if loc := exceptionName.FindStringSubmatchIndex(text); loc != nil {
		name := text[loc[2]:loc[3]]
		words = append(words, name[strings.LastIndexByte(name, '.')+1:])
		text = text[loc[1]:]
	}
	if p := longestPhrase(text); p != "" {
		words = append(words, `"`+p+`"`)
	}
	if len(words) == 1 {
		return ""
	}
	return strings.Join(words, " ")
}

// longestPhrase is the longest run of words that do not vary between runs.
func longestPhrase(text string) string {
	best := ""
	for _, p := range strings.Split(variableText.ReplaceAllString(text, "\x00"), "\x00") {
		words := strings.Fields(strings.Trim(p, " .-_"))
		words = words[:min(len(words), maxPhraseWords)]
		if p = strings.Join(words, " "); len(words) >= 2 && len(p) > len(best) && len(p) <= maxPhrase {
			best = p
		}
	}
	return best
}

// searchURL is the address of the search in a repository.
func searchURL(repo, query string) string {
	return "https://github.com/" + repo + "/issues?q=" + url.QueryEscape(query)
}
