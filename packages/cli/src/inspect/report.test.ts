import type { AssistantMessage, Message, UserMessage } from "@strata/core/internal"
import { expect, it } from "vitest"
import { plainStyle as style } from "../display/terminal.ts"
import { analyse } from "./analysis.ts"
import { report } from "./report.ts"
import type { Transcript } from "./transcript.ts"

/** A conversation of reads of one file, each answered with the same long text, with a compaction in the middle. */
function recording(): Transcript {
  const messages: Message[] = [user("Look at the code, then explain it.")]
  for (let turn = 1; turn <= 12; turn++) {
    const id = `call_${turn}`
    messages.push(assistant(turn, { type: "tool_use", id, name: "Read", input: { file_path: "/work/src/main.ts" } }))
    messages.push(user([{ type: "tool_result", tool_use_id: id, content: "const answer = 42\n".repeat(60) }]))
    if (turn === 7) messages.push(boundary(), { ...user("A summary."), isCompactSummary: true })
  }
  messages.push(assistant(13, { type: "text", text: "It answers." }))
  const report = { lines: 30, understood: { user: 14, assistant: 13 }, notUnderstood: { riddle: 3 }, notes: [] }
  return {
    file: "talk.jsonl",
    format: "claude-code",
    id: "talk",
    cwd: "/work",
    model: "claude-opus-4-5",
    report,
    entries: messages,
    aside: [],
  }
}

let placed = 0
const place = () => ({
  uuid: `m${++placed}`,
  parentUuid: null,
  timestamp: new Date(Date.UTC(2026, 0, 1, 0, placed)).toISOString(),
})
const user = (content: UserMessage["message"]["content"]): UserMessage => ({
  ...place(),
  type: "user",
  message: { role: "user", content },
})
const boundary = (): Message => ({
  ...place(),
  type: "system",
  subtype: "compact_boundary",
  compactMetadata: { trigger: "auto", preTokens: 30_000 },
})

function assistant(
  turn: number,
  block: { type: "text"; text: string } | { type: "tool_use"; id: string; name: string; input: unknown },
): AssistantMessage {
  const read = turn === 8 ? 4_000 : 4_000 + 3_000 * ((turn - 1) % 7)
  const usage = {
    input_tokens: 3,
    output_tokens: 50,
    cache_creation_input_tokens: 3_000,
    cache_read_input_tokens: read,
  }
  return {
    ...place(),
    type: "assistant",
    message: { id: `r${turn}`, role: "assistant", model: "claude-opus-4-5", content: [block], usage },
  }
}

it("reads as a page a person can follow, in 80 columns and without colours", () => {
  const lines = report(analyse(recording()), { style, columns: 80 })
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80)
  expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
    "
    ── talk.jsonl ──────────────────────────────────────────────────────────────────
    claude-code · claude-opus-4-5 · 2026-01-01 00:01 to 00:28 · /work
    30 lines, 3 not understood · 28 messages · 13 turns · 1 compaction
      not understood: riddle (3)

    Where the context went  about 8.3K tokens in total
       files read        ████████████████████████████████████████████   7.5K   90%
       tool calls        ████▉                                           828   10%
       your messages     ▏                                                15   <1%
       the model's text  ▏                                                 7   <1%
       summaries, other  ▏                                                 6   <1%

    By tool  tokens of calls and results
      tool  calls  failed  in calls  in results  share
      Read     12               828        7.5K   100%

    By file  1 file named in calls
      file         calls  tokens  share
      src/main.ts     12    8.3K   100%

    Read more than once  1 file; about 6.8K tokens (82%) repeat earlier reads
      file         reads  tokens  wasted
      src/main.ts     12    7.5K    6.8K
      Cost of writing them to the cache again: $0.0427.

    Growth over turns  largest 25.1K tokens, 22.1K at the end; counted by the API
      25.1K ┤                              █████
            ┤                    ▁▁▁▁▁██████████                    ▁▁▁▁▁█████
            ┤               ▁▁▁▁▁███████████████               ▁▁▁▁▁██████████
            ┤          ▁▁▁▁▁████████████████████          ▁▁▁▁▁███████████████
      12.5K ┤     ▂▂▂▂▂█████████████████████████     ▂▂▂▂▂████████████████████
            ┤▂▂▂▂▂██████████████████████████████▂▂▂▂▂█████████████████████████
            ┤█████████████████████████████████████████████████████████████████
            ┤█████████████████████████████████████████████████████████████████
          0 └─────────────────────────────────────────────────────────────────
                                                ▲
             ▲ compacted after turn 7: 30.0K to 7.1K

    Cache
      80% of the input came from it: 160K read from cache, 39.0K written to cache,
      39 uncached
      lost 1 time; 3.0K tokens paid again, for $0.0173:
      turn  pause     cache read  paid again     cost  probable cause
         8  4 min  22.0K to 4.0K        3.0K  $0.0173  compacted

    Money  $0.3402
      model            requests  input  cached  output     cost
      claude-opus-4-5        13  39.0K    160K     650  $0.3402

    Largest results
      tokens  share  turn  tool  about
         621     7%     1  Read  src/main.ts
         621     7%     2  Read  src/main.ts
         621     7%     3  Read  src/main.ts
         621     7%     4  Read  src/main.ts
         621     7%     5  Read  src/main.ts
    "
  `)
})

it("says little about an empty conversation, and nothing wrong", () => {
  const empty: Transcript = { ...recording(), entries: [] }
  expect(report(analyse(empty), { style, columns: 80 }).join("\n")).toContain(
    "the transcript does not record what was billed",
  )
})
