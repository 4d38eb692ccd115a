package parse

import (
	"strings"
	"testing"
)

// TestLoadGolden reads the output of load generators and of clients written by
// hand; -update-system rewrites what is expected.
func TestLoadGolden(t *testing.T) { goldenDir(t, "load") }

func TestLoadLines(t *testing.T) {
	const step = `bench step=`
	result := func(rest string) string { return step + `"result" client="script" ` + rest }
	runEventCases(t, []eventCase{
		{"served and failed", "finished: 1840 ok, 160 failed (httpx.PoolTimeout)\n", result("completed=1840 failed=160 num_prompts=2000")},
		{"of how many", "completed 300/320 requests\n", result("completed=300 failed=20 num_prompts=320")},
		{"in words", "Completed 300 of 320 requests\n", result("completed=300 failed=20 num_prompts=320")},
		{"labels before", "success: 100 errors: 20\n", result("completed=100 failed=20 num_prompts=120")},
		{"total and failed", "Total requests: 500, failed: 3\n", result("completed=497 failed=3 num_prompts=500")},
		{"requests and a time", "500 requests in 12.5s: 497 succeeded, 3 failed\n", result("completed=497 failed=3 num_prompts=500 duration=12.5 request_throughput=39.76")},
		{"failed of how many", "165/256 requests failed: RemoteProtocolError\n", result("completed=91 failed=165 num_prompts=256")},
		{"key=value", "[summary] ok=12 fail=0\n", result("completed=12 failed=0 num_prompts=12")},
		{"thousands", "Succeeded: 1,200 | Failed: 34\n", result("completed=1200 failed=34 num_prompts=1234")},
		{"a failed request", "Request 7 failed: ReadTimeout\n", step + `"main" client="script"` + "\n" + step + `"error" client="script" message="Request 7 failed: ReadTimeout"`},
		{"nobody took it", "request 0 failed: Connection refused\n", step + `"error" client="script" message="request 0 failed: Connection refused"`},
		{"other counts", "3 failed, 97 passed in 12.3s\nok=3 changed=1 unreachable=0 failed=0\n0 errors, 2 warnings\n64 packets transmitted, 3 errors\nversion 1.2/3 ok\nfailed to open 3 files, 2 ok\nLiveness: http-get http://:30000/health delay=600s timeout=5s period=30s #success=1 #failure=3\n", ""},
		{"states, then the count", "completed 10/320 requests\ncompleted 20/320 requests\nok 318, failed 2\n",
			step + `"progress" client="script" done=10 total=320` + "\n" + step + `"progress" client="script" done=20 total=320` + "\n" + result("completed=318 failed=2 num_prompts=320")},
	})
}

// TestLoadInServerLog holds that a server's own words on its requests are not
// taken for a client's.
func TestLoadInServerLog(t *testing.T) {
	events, src := readText(t, decodeLine+"\nrequest 12 failed: aborted\nfinished: 3 ok, 4 failed\n", nil)
	if got := dump(events, src); strings.Contains(got, "bench") {
		t.Errorf("a client in a server's log:\n%s", got)
	}
}

func FuzzLoad(f *testing.F) {
	seedDir(f, "load")
	f.Add("Summary:\n  Total: 1 secs\n[1] 2 responses\nStatus code distribution:\n  [200] 3 responses\nRunning 1s test @ x\n1 requests in 1s,\n")
	f.Add("12/13 requests failed\n1.5/3 done 7s in: 5 ok 3 fail\nhttp_reqs...: 1 2/s\nhttp_req_failed...: 1% ✓ 1 ✗ 2\n")
	f.Fuzz(checkText)
}
