/** What people know from other agents, in a real terminal: keys, pastes, and slash commands. */
import { describe, expect, test } from "vitest"
import { type ChatOptions, RESTS, startChat, TAKES_KEYS } from "./chatting.ts"
import { TERMINALS } from "./terminal.ts"

if (TERMINALS.length === 0)
  test.skip("there is neither tmux nor python3 here, so no terminal to drive the chat in", () => {})

describe.concurrent.each(TERMINALS)("the chat in $name", ({ open }) => {
  const started = (options: ChatOptions) => startChat(open, options)

  test("BEY-18 Esc twice clears the line, and in an empty line opens the list of messages", async () => {
    await using at = await started({ turns: ["One.", "One again."] })
    const { terminal } = at
    terminal.type("Say one")
    terminal.press("enter")
    await terminal.sees("One.")
    await terminal.sees(RESTS)
    terminal.type("a draft")
    await terminal.sees("> a draft")
    terminal.press("escape")
    await terminal.sees("Press Esc again to clear the line.")
    terminal.press("escape")
    await terminal.sees(RESTS)
    terminal.press("escape")
    terminal.press("escape")
    await terminal.sees("Go back to which message?")
    await terminal.sees(TAKES_KEYS)
    terminal.press("enter")
    await terminal.sees(/────\s+> Say one/)
    terminal.press("enter")
    await terminal.sees("One again.")
  })

  test("BEY-18 a paste of six lines is one label; backspace takes it away whole, and an earlier input sends it again", async () => {
    const asked: string[] = []
    const answer = ({ request }: { readonly request: { readonly messages: readonly unknown[] } }) => {
      asked.push(JSON.stringify(request.messages.at(-1)))
      return `Read it ${asked.length}.`
    }
    await using at = await started({ turns: [answer, answer] })
    const { terminal } = at
    const text = "a\nb\nc\nd\ne\nsix"
    terminal.paste(text)
    await terminal.sees("> [Pasted text #1 +6 lines]")
    terminal.press("backspace")
    await terminal.sees("type a task, or /help")
    terminal.paste(text)
    await terminal.sees("> [Pasted text #1 +6 lines]")
    terminal.press("enter")
    await terminal.sees("Read it 1.")
    await terminal.sees(RESTS)
    terminal.press("up")
    await terminal.sees(/> \[Pasted text #1 \+6 lines\]\s+claude/)
    terminal.press("enter")
    await terminal.sees("Read it 2.")
    for (const message of asked) expect(message).toContain("a\\nb\\nc\\nd\\ne\\nsix")
  })
})
