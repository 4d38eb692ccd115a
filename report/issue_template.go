package report

import (
	"fmt"
	"strings"
)

// issueTemplate says what a project asks for in a bug report. The headings are the
// labels of the form's fields, which is how GitHub itself renders a filled form.
type issueTemplate struct {
	name   string
	repo   string
	prefix string // of the title
	env    string // the command whose output is asked for
	fields []issueField
}

// issueField is a field of the template and what fills it.
type issueField struct {
	heading string
	body    func(x *issue)
}

// issueTemplates are the templates known, as of sgl-project/sglang
// .github/ISSUE_TEMPLATE/1-bug-report.yml at 343e716 and vllm-project/vllm
// .github/ISSUE_TEMPLATE/400-bug-report.yml at 2c89721.
var issueTemplates = []issueTemplate{
	{
		name: "", prefix: "",
		fields: []issueField{
			{"", (*issue).describe},
			{"Reproduction", (*issue).reproduction},
			{"Environment", (*issue).environment},
			{"", (*issue).background},
		},
	},
	{
		name: "sglang", repo: "sgl-project/sglang", prefix: "[Bug] ", env: "python3 -m sglang.check_env",
		fields: []issueField{
			{"Checklist", checklist(
				"I searched related issues but found no solution.",
				"The bug persists in the latest version.",
				"Issues without environment info and a minimal reproducible demo are hard to resolve and may receive no feedback.",
				"This is a bug report, not a general question.",
				"Please use English.")},
			{"Describe the bug", (*issue).describe},
			{"Reproduction", (*issue).reproduction},
			{"Environment", (*issue).environment},
			{"", (*issue).background},
		},
	},
	{
		name: "vllm", repo: "vllm-project/vllm", prefix: "[Bug]: ", env: "python collect_env.py",
		fields: []issueField{
			{"Your current environment", (*issue).environment},
			{"🐛 Describe the bug", func(x *issue) {
				x.describe()
				x.reproduction()
				x.background()
			}},
			{"Before submitting a new issue...", checklist(
				"Make sure you already searched for relevant issues, and asked the chatbot on the documentation page.")},
		},
	},
}

// IssueTemplates names the templates that [WriteIssue] knows.
func IssueTemplates() []string {
	var names []string
	for _, t := range issueTemplates {
		if t.name != "" {
			names = append(names, t.name)
		}
	}
	return names
}

func templateOf(name string) (issueTemplate, error) {
	for _, t := range issueTemplates {
		if t.name == name {
			return t, nil
		}
	}
	return issueTemplate{}, fmt.Errorf("issue template %q is not known: use one of %s", name, strings.Join(IssueTemplates(), ", "))
}

// checklist leaves the boxes empty: only the reporter can tick them.
func checklist(items ...string) func(*issue) {
	return func(x *issue) {
		x.add("checklist", 0, func() {
			for _, it := range items {
				x.printf("- [ ] %s\n", it)
			}
		})
	}
}

// CheckIssueTemplate returns an error for a template that is not known.
func CheckIssueTemplate(name string) error {
	_, err := templateOf(name)
	return err
}
