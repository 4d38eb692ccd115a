package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

// htmlFiles are the page's template, style and scripts. The chart library in
// html/uplot is uPlot 1.6.32 (https://github.com/leeoniya/uPlot, MIT) as
// published, with its licence.
//
//go:embed html
var htmlFiles embed.FS

// The style sheets and scripts of the page, in the order in which they are
// written. Each stands in an element of its own, so that the page's policy can
// name it by its hash.
var (
	htmlStyles  = []string{"uplot/uPlot.min.css", "style.css", "parts.css", "print.css"}
	htmlScripts = []string{"uplot/uPlot.iife.min.js", "axis.js", "charts.js", "lanes.js", "page.js"}
)

// htmlAssets is what all pages have in common.
type htmlAssets struct {
	page    *template.Template
	styles  []template.CSS
	scripts []template.JS
	policy  string // for the Content-Security-Policy
	licence string
}

// WriteHTML writes the report as one HTML file that needs nothing else: no
// network, no files beside it. It can be read without its scripts; with them it
// has charts that zoom, a timeline that can be filtered, and a choice of theme.
// Its policy allows its own scripts and styles only, so that text from a log
// could not load or run anything even if it were not escaped.
func WriteHTML(w io.Writer, doc *Document) error {
	assets, err := loadHTML()
	if err != nil {
		return err
	}
	page, err := newHTMLPage(cleanDocument(doc), assets)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := assets.page.ExecuteTemplate(&b, "page.tmpl", page); err != nil {
		return fmt.Errorf("rendering HTML: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return nil
}

// loadHTML reads the assets once, and not before a page is wanted.
var loadHTML = sync.OnceValues(func() (*htmlAssets, error) {
	funcs := template.FuncMap{
		"prose": proseSpans, "number": func(n int64) string { return number(float64(n)) },
		"plural": plural, "isURL": isURL, "add": func(a, b int) int { return a + b },
	}
	page, err := template.New("").Funcs(funcs).ParseFS(htmlFiles, "html/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("reading the HTML template: %w", err)
	}
	a := &htmlAssets{page: page}
	var styleHashes, scriptHashes []string
	for _, name := range htmlStyles {
		text, hash, err := htmlAsset(name)
		if err != nil {
			return nil, err
		}
		a.styles, styleHashes = append(a.styles, template.CSS(text)), append(styleHashes, hash)
	}
	for _, name := range htmlScripts {
		text, hash, err := htmlAsset(name)
		if err != nil {
			return nil, err
		}
		a.scripts, scriptHashes = append(a.scripts, template.JS(text)), append(scriptHashes, hash)
	}
	a.policy = fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; base-uri 'none'; form-action 'none'",
		strings.Join(scriptHashes, " "), strings.Join(styleHashes, " "))
	a.licence, _, err = htmlAsset("uplot/LICENSE")
	return a, err
})

// htmlAsset reads a file of the page and hashes it as a policy names it.
func htmlAsset(name string) (text, hash string, err error) {
	data, err := htmlFiles.ReadFile("html/" + name)
	if err != nil {
		return "", "", fmt.Errorf("reading a part of the HTML page: %w", err)
	}
	sum := sha256.Sum256(data)
	return string(data), "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", nil
}

// htmlSpan is a part of a sentence: our own text, or a name or a captured text as code.
type htmlSpan struct {
	Text string
	Code bool
}

// proseSpans cuts a sentence at its single backticks, by the rule of
// [escaper.prose]: with an odd one no pairing is certain.
func proseSpans(s string) []htmlSpan {
	parts := strings.Split(s, "`")
	whole := []htmlSpan{{Text: s}}
	if len(parts)%2 == 0 {
		return whole
	}
	var out []htmlSpan
	for i, p := range parts {
		if i%2 == 1 && strings.TrimSpace(p) == "" {
			return whole
		}
		if p != "" {
			out = append(out, htmlSpan{p, i%2 == 1})
		}
	}
	return out
}
