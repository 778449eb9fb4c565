/** Features known from other agents, in a real terminal: keys, pastes, and slash commands. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type ChatOptions, RESTS, startChat } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"

sayMissingTerminals()

describe.concurrent.each(TERMINALS)("the chat in $name", ({ open }) => {
  const started = (options: ChatOptions) => startChat(open, options)

  test("BEY-18 /status, /config, /copy and /export show and keep what the conversation has, and overwrite nothing", async () => {
    await using at = await started({
      turns: ["The answer is **42**."],
      files: { "taken.md": "mine" },
    })
    const { terminal, bench } = at
    const command = async (line: string, shows: string | RegExp) => {
      terminal.type(line)
      terminal.press("enter")
      await terminal.sees(shows)
      await terminal.sees(RESTS)
    }
    await command("/copy", "There is no answer to copy yet.")
    await command("/export", "There is nothing to export yet.")
    await command("What is it?", "The answer is 42.")
    await command("/status", /journal +\S/)
    expect(terminal.screen()).toMatch(/signed in +without a key, at 127\.0\.0\.1/)
    await command("/config", "Only settings that differ from the defaults.")
    expect(terminal.screen()).toMatch(/auto-memory +off .*environment/s)
    await command("/copy", "Sent the last answer, 21 characters, to the terminal's clipboard.")
    await command("/export", /Exported as markdown to [0-9a-f-]{36}\.md\./)
    await command("/export", /Exported as markdown to [0-9a-f-]{36}-2\.md\./)
    await command("/export taken.md", /taken\.md exists already\. Nothing was\s+written\./)
    await command("/export claude-code out.jsonl", "Exported as claude-code to out.jsonl.")
    const files = readdirSync(bench.project)
    const [page] = files.filter((name) => /^[0-9a-f-]{36}\.md$/.test(name))
    expect(readFileSync(join(bench.project, page!), "utf8")).toMatch(/What is it\?[\s\S]*The answer is \*\*42\*\*\./)
    expect(readFileSync(join(bench.project, "taken.md"), "utf8")).toBe("mine")
    expect(files).toContain("out.jsonl")
  })
})
