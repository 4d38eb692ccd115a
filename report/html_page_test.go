package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestHTMLInBrowser opens the report in a real browser and uses it.
func TestHTMLInBrowser(t *testing.T) {
	browser := openBrowser(t)
	for _, c := range []struct {
		name string
		use  func(p *tab)
	}{
		{"links", useLinks}, {"keys", useKeys}, {"axis", useAxis}, {"filter", useFilter}, {"theme", useTheme}, {"print", usePrint},
		{"widths", useWidths}, {"names", useNames},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := openPage(t, browser, documents()["crash"])
			c.use(p)
			p.quiet()
		})
	}
	for _, name := range []string{"healthy", "empty"} {
		t.Run(name, func(t *testing.T) { openPage(t, browser, documents()[name]).quiet() })
	}
}

// useLinks goes from a finding to its evidence and back.
func useLinks(p *tab) {
	p.do(chromedp.Click(chromedp.CSS("#step-1 .quote a")))
	p.want(`document.activeElement.matches("#evidence li") && document.activeElement.textContent.includes("The size of tensor a")`)
	p.want(`document.activeElement.getBoundingClientRect().top >= 0 && document.activeElement.getBoundingClientRect().bottom <= innerHeight`)
	p.do(chromedp.Click(chromedp.CSS("#back")))
	p.want(`document.activeElement.matches("#step-1 .quote a") && document.getElementById("back").hidden`)
	p.do(chromedp.Click(chromedp.CSS("#symptom-1 .places a")))
	id := eval[string](p, `document.activeElement.id`)
	p.do(chromedp.Click(chromedp.CSS("#" + id + ` .uses a[href="#symptom-1"]`)))
	p.want(`document.activeElement.id === "symptom-1"`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.want(fmt.Sprintf(`document.activeElement.closest("li").id === %q`, id))
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#lanes .dot").dispatchEvent(new MouseEvent("click", { bubbles: true }))`))
	p.want(`document.activeElement.matches("#events tr")`)
}

// useKeys reaches everything without a mouse, and sees where the focus is.
func useKeys(p *tab) {
	p.do(chromedp.KeyEvent(kb.Tab))
	p.want(`document.activeElement.className === "skip"`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.want(`document.activeElement.id === "main"`)
	p.do(chromedp.KeyEvent(kb.Tab))
	p.want(`getComputedStyle(document.activeElement).outlineStyle === "solid"`)
	p.do(chromedp.Focus(chromedp.CSS("#lanes")), chromedp.KeyEvent("+"))
	p.want(`forensics.axis.max - forensics.axis.min < 0.51 * (forensics.data.range[1] - forensics.data.range[0])`)
	p.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent("0"))
	p.want(`forensics.axis.min === forensics.data.range[0] && forensics.axis.max === forensics.data.range[1]`)
}

// useAxis zooms in a chart, and finds timeline and charts at the same range.
func useAxis(p *tab) {
	p.want(`forensics.charts.plots.length === 10`)
	p.do(chromedp.ScrollIntoView(chromedp.CSS("#charts-load .u-over")))
	at := eval[[]float64](p, `(() => { const r = document.querySelector("#charts-load .u-over").getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()`)
	y := at[1] + at[3]/2
	p.do(chromedp.DragAndDropXY(at[0]+at[2]/4, y, at[0]+at[2]/2, y, 5))
	const zoomed = `Math.abs((forensics.axis.max - forensics.axis.min) / (forensics.data.range[1] - forensics.data.range[0]) - 0.25) < 0.02`
	p.want(zoomed)
	p.want(`forensics.charts.plots.slice(0, 7).every((c) => c.scales.x.min === forensics.axis.min && c.scales.x.max === forensics.axis.max)`)
	p.want(`document.getElementById("axis-range").textContent === forensics.axis.text()`)
	first := eval[string](p, `document.querySelector("#lanes .tick").textContent`)
	p.do(chromedp.Click(chromedp.CSS(`[data-do="mark"]`)))
	p.want(`forensics.axis.min < forensics.data.mark.x && forensics.data.mark.x < forensics.axis.max`)
	p.want(`document.querySelector("#lanes text.marked").textContent === "failed: attention.metadata"`)
	if again := eval[string](p, `document.querySelector("#lanes .tick").textContent`); again == first {
		p.t.Errorf("the timeline still begins at %s", again)
	}
	p.do(chromedp.Click(chromedp.CSS(`[data-do="all"]`)), chromedp.Click(chromedp.CSS("#event-1 button")))
	p.want(`Math.abs(forensics.axis.cursor - Number(document.getElementById("event-1").dataset.at)) < 1e-6`)
}

func useFilter(p *tab) {
	const seen = `[...document.querySelectorAll("#events tbody tr")].filter((r) => r.offsetHeight > 0)`
	all := eval[int](p, seen+`.length`)
	p.do(chromedp.SendKeys(chromedp.CSS("#filter"), "SCHEDULER launch"))
	p.want(seen + `.length > 0 && ` + seen + `.every((r) => r.textContent.includes("launch"))`)
	if n := eval[int](p, seen+`.length`); n >= all {
		p.t.Errorf("%d of %d events are left", n, all)
	}
	p.want(`/^\d+ of \d+ events$/.test(document.getElementById("filter-count").textContent)`)
	p.want(`document.querySelector("#lanes .dot.out") !== null`)
	p.do(chromedp.SendKeys(chromedp.CSS("#filter"), " nothing has this"))
	p.want(seen + `.length === 0`)
	// A link to a row that the filter hides shows it again.
	p.do(chromedp.Evaluate[chromedp.Void](`forensics.go("event-2", document.querySelector("#filter"))`))
	p.want(`document.activeElement.id === "event-2" && ` + seen + fmt.Sprintf(`.length === %d`, all))
}

func useTheme(p *tab) {
	const paper = `getComputedStyle(document.body).backgroundColor`
	p.media("", "light")
	p.becomes(paper + ` === "rgb(255, 255, 255)"`)
	p.media("", "dark")
	p.becomes(paper + ` === "rgb(20, 23, 26)" && document.getElementById("theme").textContent === "Light theme"`)
	p.do(chromedp.Click(chromedp.CSS("#theme")))
	p.want(paper + ` === "rgb(255, 255, 255)" && document.getElementById("theme").textContent === "Dark theme"`)
	p.want(`forensics.charts.plots.length === 10`)
	p.want(`(() => { try { return localStorage.length + sessionStorage.length === 0; } catch { return true; } })()`)
	p.want(`document.cookie === ""`)
}

// usePrint prints a page with a filter set and all folded.
func usePrint(p *tab) {
	p.do(chromedp.SendKeys(chromedp.CSS("#filter"), "nothing has this"))
	p.do(chromedp.Evaluate[chromedp.Void](`window.opened = 0; addEventListener("beforeprint", () => {
		window.opened = document.querySelectorAll("details:not([open])").length === 0 ? 1 : -1;
	});`))
	pdf, err := chromedp.Run(p.ctx, chromedp.PrintToPDF())
	if err != nil {
		p.t.Fatal(err)
	}
	if !strings.HasPrefix(string(pdf), "%PDF-") || len(pdf) < 50_000 {
		p.t.Errorf("a PDF of %d bytes", len(pdf))
	}
	p.want(`window.opened === 1 && document.querySelectorAll("details:not([open])").length > 0`)
	p.media("print", "dark")
	p.want(`document.getElementById("event-1").offsetHeight > 0 && document.querySelector(".bar").offsetHeight === 0`)
	p.want(`getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"`)
}

// useWidths makes sure that nothing sticks out of a narrow window.
func useWidths(p *tab) {
	for _, w := range []int64{320, 390, 700, 1400, 2400} {
		p.do(chromedp.EmulateViewport(w, 900))
		p.do(chromedp.Poll[chromedp.Void](fmt.Sprintf("innerWidth === %d", w)))
		if got := eval[int64](p, `document.documentElement.scrollWidth`); got > w {
			p.t.Errorf("the page is %d wide in a window of %d", got, w)
		}
		p.want(`forensics.charts.plots.every((c) => c.root.getBoundingClientRect().right <= innerWidth)`)
	}
}

// useNames looks for what screen readers need.
func useNames(p *tab) {
	p.want(`document.querySelectorAll("main").length === 1 && document.querySelectorAll("h1").length === 1`)
	p.want(`[...document.querySelectorAll("table:not([aria-hidden] *)")].every((t) => t.caption && t.caption.textContent.trim() && t.tHead)`)
	p.want(`[...document.querySelectorAll("nav, section, [role=region], [role=group], [role=toolbar]")].every((e) =>
		e.hasAttribute("aria-label") || document.getElementById(e.getAttribute("aria-labelledby"))?.textContent)`)
	p.want(`[...document.querySelectorAll("input")].every((e) => e.labels.length === 1)`)
	p.want(`[...document.querySelectorAll("a[href^='#']")].every((a) => document.getElementById(a.getAttribute("href").slice(1)))`)
	p.want(`(() => { const ids = [...document.querySelectorAll("[id]")].map((e) => e.id); return new Set(ids).size === ids.length; })()`)
	levels := eval[[]int](p, `[...document.querySelectorAll("h1, h2, h3, h4")].map((h) => Number(h.tagName[1]))`)
	for i := 1; i < len(levels); i++ {
		if levels[i] > levels[i-1]+1 {
			p.t.Errorf("heading %d jumps from level %d to %d", i, levels[i-1], levels[i])
		}
	}
}

// TestHostileHTMLInBrowser opens documents whose every text is an attack. Only the
// page's own elements may appear.
func TestHostileHTMLInBrowser(t *testing.T) {
	browser := openBrowser(t)
	for _, i := range []int{-1, 0, 1, 2, 6, 7, 20} {
		t.Run(fmt.Sprint("attack ", i), func(t *testing.T) {
			doc := poisoned(i)
			fresh := documents()["crash"]
			for j := range doc.Series { // keep what makes charts and lanes
				doc.Series[j].Name = fresh.Series[j].Name
			}
			for j := range doc.Points {
				doc.Points[j].Start, doc.Points[j].End = fresh.Points[j].Start, fresh.Points[j].End
			}
			doc.RootCause.Time, doc.Processes[0].Start = fresh.RootCause.Time, fresh.Processes[0].Start
			p := openPage(t, browser, doc)
			p.want(`forensics.charts.plots.length > 5 && document.querySelectorAll("#lanes .dot").length > 0`)
			p.want(`document.querySelectorAll("img, iframe, object, embed, link, base, form").length === 0`)
			p.want(`document.querySelectorAll("script").length === 6 && document.querySelectorAll("body b, body style").length === 0`)
			p.want(`[...document.querySelectorAll("a")].every((a) => /^(#[a-z]+(-\d+)?|https:\/\/github\.com\/.*)$/.test(a.getAttribute("href")))`)
			p.want(`[...document.querySelectorAll("*")].every((e) => [...e.attributes].every((a) => !a.name.startsWith("on") && a.name !== "srcdoc"))`)
			if i >= 0 && clean(attacks[i]) != "" {
				p.want(fmt.Sprintf(`[...document.querySelectorAll("#evidence pre")].every((e) => e.textContent === %q)`, clean(attacks[i])))
			}
			p.quiet()
		})
	}
}
