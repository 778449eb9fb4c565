/**
 * The steps of each coding agent: several turns, a manual and an automatic compaction, a fork and a resume. Every step is a separate
 * process in the same home, as in real use.
 */
import { globSync } from "node:fs"
import { join } from "node:path"
import type { Step, StepContext } from "./step.ts"

/** Small enough for one Read, but two of these files fill a forced window. */
export const BIG_FILES: Readonly<Record<string, string>> = Object.fromEntries(
  [1, 2, 3].map((file) => [
    `big-${file}.txt`,
    Array.from(
      { length: 900 },
      (_, line) => `line ${line} of file ${file}: value ${line * 7 + file}, item_${line}\n`,
    ).join(""),
  ]),
)
const ANSWERED = /the answer is 42/
const NOTES = "Read notes.txt"

/** Sum of all amounts that the pattern finds in the output. */
const amounts = (stdout: string, pattern: RegExp): number =>
  [...stdout.matchAll(pattern)].reduce((sum, [, dollars]) => sum + Number(dollars), 0)

/** Whether the printed cost of a resumed session includes the cost before, also in a fork. This is so from 2.1.300 on. */
const isCumulative = (version: string): boolean => {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number)
  return major > 2 || (major === 2 && (minor > 1 || (minor === 1 && patch >= 300)))
}

const printedBy = (stdout: string): number => Number(/"total_cost_usd":([\d.e-]+)/.exec(stdout)?.[1])
const sessionIn = (stdout = ""): string => /"session_id":"([\w-]+)"/.exec(stdout)?.[1] ?? ""

/** `percent`: share of the window at which the client compacts automatically. */
export function claudeCodeScenario(
  bin: (context: StepContext) => string,
  model: string,
  percent: number,
): readonly Step[] {
  const spoken = (context: StepContext, words: string, ...more: readonly string[]) => [
    ...[bin(context), "-p", words, "--output-format", "json", "--model", model, "--allowedTools", "Read", ...more],
  ]
  const step = (what: string, words: string, more: Partial<Step> = {}): Step => ({
    what,
    command: (context, [first]) => spoken(context, words, ...(first ? ["--resume", sessionIn(first.stdout)] : [])),
    expected: /"is_error":false/,
    bill: ({ stdout, version }, earlier) => {
      const before = isCumulative(version) ? earlier.findLast(({ forked }) => !forked) : undefined
      return printedBy(stdout) - (before ? printedBy(before.stdout) : 0)
    },
    ...more,
  })
  const env = { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: `${percent}`, CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" }
  return [
    step("a tool call", NOTES, { expected: ANSWERED }),
    step("a resume, with a large result", "Read big-1.txt"),
    step("/compact", "/compact Keep the port.", { compacts: true }),
    step("a turn after it", NOTES, { expected: ANSWERED }),
    step("a small window", "Read big-2.txt", { env }),
    step("a compaction by itself", "Read big-3.txt", { env, compacts: true }),
    step("a fork", NOTES, {
      command: (context, [first]) => spoken(context, NOTES, "--resume", sessionIn(first?.stdout), "--fork-session"),
      expected: ANSWERED,
      forks: true,
    }),
    step("a resume", NOTES, { expected: ANSWERED }),
  ]
}

/** pi's settings decide when it compacts. Only its RPC mode offers a manual compaction. */
export function piScenario(bin: (context: StepContext) => string): readonly Step[] {
  const common = ["--offline", "--provider", "anthropic", "--model", "claude-opus-4-6"]
  const settings = (reserveTokens: number) => (context: StepContext) => ({
    [join(context.home, ".pi/agent/settings.json")]: JSON.stringify({
      compaction: { reserveTokens, keepRecentTokens: 1000 },
    }),
  })
  const large = (file: number) => `Use read (path: big-${file}.txt; offset: 1; limit: 900)`
  const step = (what: string, words: string, more: Partial<Step> = {}): Step => ({
    what,
    command: (context, earlier) => [
      ...[bin(context), "-p", "--mode", "json", ...common, ...(earlier.length > 0 ? ["-c"] : []), words],
    ],
    expected: /"type":"agent_end"/,
    bill: ({ stdout }) =>
      amounts(stdout, /^\{"type":"message_end","message":\{"role":"assistant".*?"cost":\{[^}]*"total":([\d.e-]+)/gm) +
      amounts(stdout, /^\{"type":"compaction_end".*?"cost":\{[^}]*"total":([\d.e-]+)/gm),
    ...more,
  })
  return [
    step("a tool call", "read notes.txt", { expected: ANSWERED, files: settings(16_000) }),
    step("a resume, with a large result", large(1)),
    step("compact", "", {
      command: (context) => [bin(context), "--mode", "rpc", ...common, "-c"],
      input: { text: '{"type":"compact"}\n', until: /"type":"response","command":"compact"/ },
      expected: /"type":"compaction_end".*"summary"/,
      compacts: true,
    }),
    step("a turn after it", "read notes.txt", { expected: ANSWERED }),
    step("a compaction by itself", large(2), { files: settings(990_000), compacts: true }),
    step("a fork", "", {
      command: (context) => [
        ...[bin(context), "-p", "--mode", "json", ...common],
        ...["--fork", globSync(join(context.home, ".pi/agent/sessions/*/*.jsonl"))[0] ?? "", "read notes.txt"],
      ],
      expected: ANSWERED,
      forks: true,
      files: settings(16_000),
    }),
    step("a resume", "read notes.txt", { expected: ANSWERED }),
  ]
}

/** opencode compacts because of a window in its configuration. Manual compaction exists only in its terminal and over its server. */
export function opencodeScenario(bin: (context: StepContext) => string): readonly Step[] {
  const configuration = (models: object) => (context: StepContext) => ({
    [join(context.home, ".config/opencode/opencode.json")]: JSON.stringify({
      provider: { anthropic: { options: { baseURL: `${context.url}/v1`, apiKey: "sk-simulator" }, models } },
      autoupdate: false,
      share: "disabled",
    }),
  })
  const small = { "claude-opus-4-6": { limit: { context: 40_000, output: 8_000 } } }
  const large = (file: number) => `Use read (filePath: big-${file}.txt; offset: 1; limit: 900)`
  const step = (what: string, words: string, more: Partial<Step> = {}): Step => ({
    what,
    command: (context, earlier) => [
      ...[bin(context), "run", "--format", "json", "-m", "anthropic/claude-opus-4-6"],
      ...(earlier.length > 0 ? ["-c"] : []),
      words,
    ],
    expected: /"type":"step_finish"/,
    bill: ({ stdout }) => amounts(stdout, /^\{"type":"step_finish".*?"cost":([\d.e-]+)/gm),
    ...more,
  })
  return [
    step("a tool call", "read notes.txt", { expected: ANSWERED, files: configuration({}) }),
    step("a resume, with a large result", large(1)),
    step("a compaction by itself", large(2), { files: configuration(small), compacts: true }),
    step("a turn after it", "read notes.txt", { files: configuration({}) }),
  ]
}
