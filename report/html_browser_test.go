package report

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserNames are the commands to look for, in this order.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

// findBrowser returns a browser or skips the test. A machine that is meant to have
// one sets FORENSICS_REQUIRE_BROWSER=1, so that a skipped test does not pass for a
// good one.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	reason := "no browser found: none of " + strings.Join(browserNames, ", ")
	if os.Getenv("FORENSICS_REQUIRE_BROWSER") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
	return ""
}

// tab is a page in a real browser, with all that it said and asked for.
type tab struct {
	t    *testing.T
	ctx  context.Context
	file string

	mu       sync.Mutex
	problems []string
	requests []string
}

// openBrowser starts a browser that lives until the test ends.
func openBrowser(t *testing.T) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(findBrowser(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancelTab := chromedp.NewContext(alloc)
	t.Cleanup(cancelTab)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("starting the browser: %v", err)
	}
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits until the browser has left its folder
	return ctx
}

// openPage renders a document into a file and opens it in a tab of its own.
func openPage(t *testing.T, browser context.Context, doc *Document) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, render(t, doc, WriteHTML), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancelTime := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancelTime)
	p := &tab{t: t, ctx: ctx, file: (&url.URL{Scheme: "file", Path: file}).String()}
	p.do(chromedp.EmulateViewport(1400, 900))
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, runtime.Enable, cdp.Empty{})
	p.do(chromedp.Navigate(p.file), chromedp.WaitReady(chromedp.CSS("footer")))
	return p
}

// listen takes down everything that a silent page does not do.
func (p *tab) listen(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, ev.Request.URL)
	case *log.EventEntryAdded:
		p.problems = append(p.problems, fmt.Sprintf("log: %s: %s", ev.Entry.Level, ev.Entry.Text))
	case *runtime.EventConsoleAPICalled:
		p.problems = append(p.problems, fmt.Sprintf("console: %s", ev.Type))
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, fmt.Sprintf("exception: %s, line %d", ev.ExceptionDetails.Text, ev.ExceptionDetails.LineNumber))
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

func call[P, R any](p *tab, cmd cdp.Command[P, R], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, cmd, params); err != nil {
		p.t.Fatalf("%s: %v", cmd.Method, err)
	}
}

// media emulates a medium ("print" or "") and a colour scheme of the system.
func (p *tab) media(medium, scheme string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// quiet fails the test if the page said anything or asked for anything but itself.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.problems {
		p.t.Error(s)
	}
	if len(p.requests) == 0 {
		p.t.Error("no request was seen, not even that for the page")
	}
	for _, u := range p.requests {
		if u != p.file {
			p.t.Errorf("a request for %s", u)
		}
	}
}

// eval runs an expression in the page, where the constants of its scripts are known.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	out, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// want fails the test if an expression is not true in the page.
func (p *tab) want(expression string) {
	p.t.Helper()
	if !eval[bool](p, expression) {
		p.t.Errorf("not true: %s", expression)
	}
}

// becomes waits until an expression is true in the page.
func (p *tab) becomes(expression string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
		p.t.Fatalf("never true: %s: %v", expression, err)
	}
}
