package parse

import "testing"

func TestCommandFilter(t *testing.T) {
	for argv, want := range map[string]string{
		"python3 -m sglang.bench_serving --num-prompts 64 2>&1 | tail -1":   "tail -1",
		"python3 bench.py 2>&1 | tee bench.log | grep -v health | tail -30": "grep -v health | tail -30",
		"python3 bench.py |& grep -i error":                                 "grep -i error",
		"vllm serve m > s.log 2>&1 &":                                       "",
		"vllm serve m > /dev/null 2>&1 &":                                   ">/dev/null",
		"python3 bench.py 2>/dev/null | tail -5":                            "2>/dev/null | tail -5",
		"python3 bench.py &> /dev/null":                                     "&>/dev/null",
		"python3 x.py < /dev/null":                                          "",
		"tail -50 server.log":                                               "tail -50 server.log",
		"tail -f server.log":                                                "",
		"tail -n 20 -f server.log":                                          "tail -n 20 -f server.log",
		"head -100 bench.log":                                               "head -100 bench.log",
		"grep -i xid /var/log/kern.log":                                     "grep -i xid /var/log/kern.log",
		"journalctl -u sglang --since '1 hour ago' | grep -i xid":           "grep -i xid",
		"journalctl -u sglang -n 50 --no-pager":                             "-n 50",
		"journalctl -k -p err | sudo tail -3":                               "-p err | tail -3",
		"kubectl -n bench logs vllm-0 --tail=100":                           "--tail=100",
		"kubectl logs vllm-0 --tail 20 | grep -v GET":                       "--tail 20 | grep -v GET",
		"kubectl logs vllm-0 --tail=-1":                                     "",
		"kubectl -n bench get pod vllm-0":                                   "",
		"docker logs --tail 200 sglang 2>&1 | less":                         "--tail 200 | less",
		"docker exec sglang bash -c 'tail -5 /tmp/s.log'":                   "tail -5 /tmp/s.log",
		"ssh n1 \"tail -f s.log | grep -i error\"":                          "grep -i error",
		"cat a.log | (grep x || true)":                                      "grep x",
		"ls | wc -l":                                                        "wc -l",
		"echo done":                                                         "",
	} {
		if got := commandFilter(argv); got != want {
			t.Errorf("%s: got %q, want %q", argv, got, want)
		}
	}
}
