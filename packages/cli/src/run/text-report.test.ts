import { expect, test } from "vitest"
import type { RunEnd } from "./report.ts"
import { textReport } from "./text-report.ts"

const retry = { type: "retry", attempt: 1, delayMs: 500, reason: "overloaded (529)" } as const

test("LOOP-5: what was printed is called void where something was printed, and only there", () => {
  const notes: string[] = []
  const report = textReport({ print: () => {}, complain: (text) => notes.push(text), isScreen: true })
  report.event(retry)
  report.event({ type: "text", text: "Half an ans" })
  report.event(retry)
  report.event(retry)
  expect(notes).toEqual([
    "- retrying in 500 ms: overloaded (529).\n",
    "- retrying in 500 ms: overloaded (529). Ignore the partial answer above.\n",
    "- retrying in 500 ms: overloaded (529).\n",
  ])
})

test("PERM-5 each denied call says why, and how to allow those that only lacked a user is reported once", () => {
  const notes: string[] = []
  const report = textReport({ print: () => {}, complain: (text) => notes.push(text), isScreen: false })
  report.begin({ conversation: "c", model: "m", cwd: "/work", resumed: false })
  const fetching = (id: string, why: string, rules?: readonly string[]) =>
    report.event({
      type: "tool-denied",
      id,
      name: "WebFetch",
      question: { kind: "network", summary: "fetch", subject: "https://example.com/a" },
      why,
      ...(rules ? { rules } : {}),
    })
  fetching("1", "WebFetch needs permission, and there is no one to ask", ["WebFetch(domain:example.com)"])
  fetching("2", "WebFetch needs permission, and there is no one to ask", ["WebFetch(domain:example.com)"])
  fetching("3", 'the rule "WebFetch" forbids it')
  const end = { reason: "answer", text: "" } as const
  report.end({ end, exitCode: 0, conversation: "c", isKept: true, dollars: 0, ledger: {} as RunEnd["ledger"] })
  expect(notes.slice(2)).toEqual([
    '- WebFetch fetch: denied, because the rule "WebFetch" forbids it\n',
    "2 calls were denied, because strata run cannot ask. Allow such calls with --mode or --allow.\n",
    "These rules would allow them: --allow 'WebFetch(domain:example.com)'\n",
  ])
})

test("L4-14 a compaction shows its step on a screen, and the line is gone before anything else is written", () => {
  const { report, written } = onScreen()
  report.event({ type: "compaction", progress: { phase: "preparing" } })
  report.event({ type: "notice", message: "a remark" })
  report.event({ type: "compaction", progress: { phase: "failed", message: "no summary" } })
  const [step, cleared, remark, ...rest] = written
  expect(step).toContain("Compacting: reading the conversation")
  expect(cleared).not.toContain("Compacting")
  expect(remark).toBe("- a remark\n")
  expect(rest.join("")).toBe("- no summary\n")
})

function onScreen() {
  const written: string[] = []
  const keep = (text: string) => void written.push(text)
  return { written, report: textReport({ print: keep, complain: keep, isScreen: true, canRewrite: true }) }
}
