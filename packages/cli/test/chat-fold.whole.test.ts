/** Folding and cutting in the chat, in a real terminal, over HTTP against the simulator. */
import { describe, test } from "vitest"
import { type ChatOptions, RESTS, startChat, TAKES_KEYS } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"

const LONG_ANSWER = "The port 8080 answers. ".repeat(60)
/** Requests for notes would consume turns of the script. */
const SETTINGS = { env: { STRATA_NOTES: "0" } }

sayMissingTerminals()

describe.concurrent.each(TERMINALS.slice(0, 1))("the chat in $name", ({ open }) => {
  const started = (options: ChatOptions) => startChat(open, options)

  test("BEY-13 /snip asks which exchange, /unfold shows what it would do and does it, /fold folds down to a size", async () => {
    await using at = await started({ ...SETTINGS, turns: [LONG_ANSWER, "Two.", "Three.", "Four.", "Five."] })
    const { terminal } = at
    for (const [words, answer] of [
      ["Say one", "port 8080"],
      ["Say two", "Two."],
      ["Say three", "Three."],
      ["Say four", "Four."],
      ["Say five", "Five."],
    ] as const) {
      terminal.type(words)
      terminal.press("enter")
      await terminal.sees(answer)
      await terminal.sees(RESTS)
    }
    terminal.type("/snip")
    terminal.press("enter")
    await terminal.sees("Cut which exchange out of the view?")
    await terminal.sees(/> 1 Say one \(2 messages, \d+ tokens\)/)
    await terminal.sees(TAKES_KEYS)
    terminal.press("enter")
    await terminal.sees(/Cut out 1 range \(2 messages\): [\d.]+K to [\d.]+K tokens\./)
    await terminal.sees(RESTS)
    terminal.type("/unfold --dry-run")
    terminal.press("enter")
    await terminal.sees("Open which range?")
    await terminal.sees(TAKES_KEYS)
    terminal.press("enter")
    await terminal.sees("What it would do (nothing was changed)")
    await terminal.sees(RESTS)
    terminal.type("/unfold")
    terminal.press("enter")
    await terminal.sees(/> 1 Cut out: by you/)
    await terminal.sees(TAKES_KEYS)
    terminal.press("enter")
    await terminal.sees(/Opened 1 range \(2 messages\)/)
    await terminal.sees(RESTS)
    terminal.type("/fold 1")
    terminal.press("enter")
    await terminal.sees(/Folded 1 range \(2 messages\): [\d.]+K to [\d.]+K tokens\./)
  })
})
