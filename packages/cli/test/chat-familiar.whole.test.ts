/** More features known from other agents, in a real terminal: pastes, and slash commands with dialogs. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type ChatOptions, RESTS, startChat, TAKES_KEYS } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { calls } from "./workbench.ts"

sayMissingTerminals()

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

  test("BEY-18 /init sends our prompt, and the journal has what the person typed", async () => {
    const asked: string[] = []
    await using at = await started({
      files: { "CLAUDE.md": "Use tabs." },
      turns: [
        ({ request }) => {
          asked.push(JSON.stringify(request.messages))
          return "Improved."
        },
      ],
    })
    const { terminal } = at
    terminal.type("/init and name the tests")
    terminal.press("enter")
    await terminal.sees("Improved.")
    expect(asked[0]).toContain("Improve CLAUDE.md in this directory")
    expect(asked[0]).toContain("The user also wants: and name the tests")
  })

  test("BEY-18 /permissions lists rules and their origin, adds one, and takes it back, here and in your settings", async () => {
    await using at = await started({
      turns: [
        calls({ Bash: { command: "touch made" } }),
        "Denied.",
        calls({ Bash: { command: "touch made" } }),
        "Made.",
      ],
    })
    const { terminal, bench } = at
    const file = join(bench.home, "settings.json")
    const enter = (line: string) => {
      terminal.type(line)
      terminal.press("enter")
    }
    enter("/permissions")
    await terminal.sees("Permissions: mode ask, 0 rules. Deny wins, then ask.")
    await terminal.sees(TAKES_KEYS)
    terminal.type("+")
    await terminal.sees("What should the rule do?")
    await terminal.sees(TAKES_KEYS)
    terminal.type("d")
    await terminal.sees("Enter sends, Esc goes back")
    enter("Bash(touch:*)")
    await terminal.sees('deny Bash(touch:*): every command that starts with "touch"')
    await terminal.sees(TAKES_KEYS)
    terminal.type("a")
    await terminal.sees(/deny {2}Bash\(touch:\*\) \(your settings\)/)
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ permissions: { deny: ["Bash(touch:*)"] } })
    await terminal.sees(TAKES_KEYS)
    terminal.press("escape")
    await terminal.sees("type a task, or /help")
    enter("Make it")
    await terminal.sees("Denied.")
    await terminal.sees(RESTS)
    expect(readdirSync(bench.project)).not.toContain("made")
    enter("/permissions")
    await terminal.sees("Permissions: mode ask, 1 rule.")
    await terminal.sees(TAKES_KEYS)
    terminal.type("2")
    await terminal.sees('Remove "deny Bash(touch:*)" from your settings and this conversation?')
    await terminal.sees(TAKES_KEYS)
    terminal.type("y")
    await terminal.sees("Permissions: mode ask, 0 rules.")
    await terminal.sees(TAKES_KEYS)
    terminal.press("escape")
    await terminal.sees(RESTS)
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ permissions: { deny: [] } })
    enter("Make it now")
    await terminal.sees("Run this command?")
    await terminal.sees(TAKES_KEYS)
    terminal.type("y")
    await terminal.sees("Made.")
    expect(readdirSync(bench.project)).toContain("made")
  })

  test("BEY-18 /tasks lists a background command and an agent at once, and stops each", async () => {
    const begun = Promise.withResolvers<void>()
    await using at = await started({
      turns: [
        calls({
          Bash: { command: "sleep 1000", run_in_background: true },
          Agent: { description: "Count", prompt: "[slow] Count.", run_in_background: true },
        }),
        "Both work.",
        "It was stopped.",
      ],
      cast: {
        slow: [
          () => {
            begun.resolve()
            return new Promise<string>(() => undefined)
          },
        ],
      },
      args: ["--allow", "Bash(sleep:*)"],
    })
    const { terminal } = at
    terminal.type("/tasks")
    terminal.press("enter")
    await terminal.sees("There is no background work.")
    terminal.type("Work")
    terminal.press("enter")
    await begun.promise
    await terminal.sees("Both work.")
    await terminal.sees(RESTS)
    terminal.type("/tasks")
    terminal.press("enter")
    await terminal.sees("2 tasks in the background")
    await terminal.sees(/command shell_1 \(sleep 1000\)[\s\S]*agent agent-1/)
    await terminal.sees(TAKES_KEYS)
    terminal.press("enter")
    await terminal.sees("Stop this? command shell_1: sleep 1000")
    await terminal.sees(TAKES_KEYS)
    terminal.type("y")
    await terminal.sees("1 task in the background")
    await terminal.sees(TAKES_KEYS)
    terminal.press("enter")
    await terminal.sees("x Stop it")
    await terminal.sees(TAKES_KEYS)
    terminal.type("x")
    await terminal.sees("Stop agent-1? Its work so far is preserved")
    await terminal.sees(TAKES_KEYS)
    terminal.type("y")
    await terminal.sees("There is no background work.")
    await terminal.sees("It was stopped.")
  })
})
