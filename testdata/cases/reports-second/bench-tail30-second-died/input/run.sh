#!/bin/bash
for c in 16 64; do
  echo "=== concurrency $c ==="
  python3 -m sglang.bench_serving --backend sglang --port 8011 --dataset-name random --num-prompts $((c*8)) --max-concurrency $c 2>&1 | tail -30
done
