/**
 * Compaction in the chat, in a real terminal, over HTTP against the simulator. One terminal is enough, because keys are tested in all of
 * them elsewhere.
 */
import type { ScriptedTurn } from "@strata/sim"
import { describe, test } from "vitest"
import { type ChatOptions, RESTS, startChat } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { calls, HALTING } from "./workbench.ts"

/** Long enough for a summary to pay off. */
const LONG = { "log.txt": "port 8080 answers, port 9090 does not\n".repeat(700) }
const READ = calls({ Bash: { command: "cat log.txt" } })
const SUMMARY = `<summary>\n${"Ports 8080 and 9090 were looked at. ".repeat(60)}\n</summary>`
const _MESSAGES: ScriptedTurn = ({ request }) => `${request.messages.length} messages`
const HALF_A_SUMMARY = 50 // events with 24 characters each
/** Requests for notes would consume turns of the script. */
const WITHOUT_NOTES = { args: ["--mode", "bypass"], env: { STRATA_NOTES: "0" }, files: LONG }

sayMissingTerminals()

describe.concurrent.each(TERMINALS.slice(0, 1))("the chat in $name", ({ open }) => {
  const started = (options: ChatOptions) => startChat(open, options)

  test("L4-24 /compact: the plan, the work, messages typed meanwhile, one line that opens", async () => {
    await using at = await started({
      ...WITHOUT_NOTES,
      turns: [READ, "I have read it.", SUMMARY, "That was the log."],
      faults: [{ nth: 3, fault: HALTING }],
      haltsAfter: HALF_A_SUMMARY,
    })
    const { bench, terminal } = at
    terminal.type("Read the log")
    terminal.press("enter")
    await terminal.sees("I have read it.")
    await terminal.sees(RESTS)
    terminal.type("/compact --dry-run")
    terminal.press("enter")
    await terminal.sees("What /compact would do (nothing was changed)")
    await terminal.sees(/summarise +6 messages/)
    terminal.type("/compact keep the ports")
    terminal.press("enter")
    await terminal.sees(/Compacting: writing a summary, [\d,]+ characters, 0:\d\d \(Esc cancels\)/)
    terminal.type("And what was that?")
    terminal.press("enter")
    await terminal.sees("queued: And what was that?")
    bench.goOn()
    await terminal.sees(/≡ Compacted: [\d,]+ to [\d,]+ tokens, by the model, from its cache\. Checked: 100%/)
    await terminal.sees("That was the log.")
    await terminal.sees(RESTS)
    terminal.type("/context")
    terminal.press("enter")
    await terminal.sees("Compacted 1 time. Strata compacts automatically at")
    await terminal.sees("Notes are switched off.")
    terminal.press("ctrl-o")
    await terminal.sees("Ports 8080 and 9090 were looked at.")
  })
})
