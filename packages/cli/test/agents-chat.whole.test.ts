/** Agents in `strata chat`, in a real terminal over HTTP against the simulator. */
import { expect, test } from "vitest"
import { RESTS, startChat, TAKES_KEYS } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { calls } from "./workbench.ts"

sayMissingTerminals()

const [terminal] = TERMINALS
const writes = {
  content: [{ type: "tool_use", id: "toolu_write", name: "Write", input: { file_path: "new.txt", content: "x" } }],
} as const

test.runIf(terminal)(
  "L7-4: a background agent asks by name, the status line counts it, and its report starts a turn while the chat rests",
  async () => {
    const release = Promise.withResolvers<void>()
    await using at = await startChat(terminal!.open, {
      turns: [
        calls({
          Agent: { description: "Write", prompt: "[writer] Write.", run_in_background: true },
        }),
        "I go on meanwhile.",
        "The writer is done.",
      ],
      cast: {
        writer: [
          async () => {
            await release.promise
            return writes
          },
          "Not written.\u001b]0;owned\u0007",
        ],
      },
    })
    const { terminal: screen } = at
    screen.type("Let someone write")
    screen.press("enter")
    await screen.sees("I go on meanwhile.")
    await screen.sees(/1 agent\b/)
    await screen.sees(RESTS)
    screen.type("/agents")
    screen.press("enter")
    await screen.sees("1 agent of this conversation")
    await screen.sees(TAKES_KEYS)
    screen.press("enter")
    await screen.sees("x Stop it")
    await screen.sees("> [writer] Write.")
    screen.press("escape")
    await screen.sees("1 agent of this conversation")
    screen.press("escape")
    await screen.sees(RESTS)
    release.resolve()
    await screen.sees("The agent agent-1 asks:")
    await screen.sees(TAKES_KEYS)
    screen.press("escape")
    await screen.sees("report of the agent agent-1")
    await screen.sees("The writer is done.")
    expect(screen.screen()).not.toContain("Interrupted")
  },
)
