/** The user's settings for Claude Code, with the real program: deny rules always apply, the rest after one answer. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ScriptedTurn } from "@strata/sim"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { calls, type Workbench, workbench } from "./workbench.ts"

sayMissingTerminals()

const RULES = Array.from({ length: 200 }, (_, nth) => `Bash(tool-${nth}:*)`)
const SETTINGS = {
  permissions: { deny: [...RULES, "Bash(touch:*)"], allow: ["Bash"] },
  hooks: { SessionStart: [{ hooks: [{ type: "command", command: 'echo "hook $GREETING" >> ran.txt' }] }] },
  env: { GREETING: "hello", API_TOKEN: "sk-person-secret-4711" },
  outputStyle: "Terse",
  statusLine: { command: "x" },
}

async function personal(turns: Parameters<typeof workbench>[0]["turns"], settings: unknown = SETTINGS) {
  const bench = await workbench({ turns })
  const put = (file: string, text: string) => {
    mkdirSync(dirname(join(bench.env.HOME!, file)), { recursive: true })
    writeFileSync(join(bench.env.HOME!, file), text)
  }
  put(".claude/settings.json", typeof settings === "string" ? settings : JSON.stringify(settings))
  put(".claude/output-styles/terse.md", "---\nname: Terse\n---\nAnswer in one line, please.\n")
  return bench
}

const ran = ({ project }: Workbench): string | undefined =>
  existsSync(join(project, "ran.txt")) ? readFileSync(join(project, "ran.txt"), "utf8") : undefined
/** A scripted turn that records the requests. */
function watched(): { readonly turn: ScriptedTurn; readonly sent: string[] } {
  const sent: string[] = []
  const turn: ScriptedTurn = ({ request }) => {
    sent.push(JSON.stringify(request))
    return { content: [{ type: "text", text: "Done." }] }
  }
  return { turn, sent }
}

describe.concurrent("PERM-3 strata run and the person's settings for Claude Code", () => {
  test("before an answer only what restricts counts, and one line says so", async () => {
    const { turn, sent } = watched()
    await using bench = await personal([calls({ Bash: { command: "touch widened.txt" } }), turn])
    const { stdout, stderr } = await bench.here(["run", "Work.", "--mode", "bypass", "--allow", "Bash(touch:*)"])
    expect(stdout).toBe("Done.\n")
    expect(stderr).toContain('denied, because the rule "Bash(touch:*)" forbids it')
    expect(stderr).toContain("strata config --claude use")
    expect([ran(bench), existsSync(join(bench.project, "widened.txt"))]).toEqual([undefined, false])
    expect(sent.join()).not.toContain("Answer in one line")
    expect(stderr).not.toContain("secret")
  })

  test("after a yes hooks, allow rules, variables and the output style count, and what denies still wins", async () => {
    const { turn, sent } = watched()
    const turns = [calls({ Bash: { command: "tool-199 run" } }), calls({ Bash: { command: "mkdir made" } }), turn, turn]
    await using bench = await personal(turns)
    expect((await bench.here(["config", "--claude", "use"])).stdout).toContain(
      "All settings that Strata supports apply",
    )
    const { stderr } = await bench.here(["run", "Work."])
    expect(stderr).toContain('the rule "Bash(tool-199:*)" forbids it')
    expect(stderr).not.toContain("strata config --claude")
    expect(existsSync(join(bench.project, "made"))).toBe(true)
    expect(ran(bench)).toBe("hook hello\n")
    expect(sent.join()).toContain("Answer in one line, please.")
    expect(stderr + sent.join()).not.toContain("sk-person-secret")
    expect((await bench.here(["config", "--claude", "ignore"])).code).toBe(0)
    await bench.here(["run", "Again."])
    expect(ran(bench)).toBe("hook hello\n")
  })

  test("strata config lists all of it with its file, and no value of a variable", async () => {
    await using bench = await personal([])
    const file = join(bench.env.HOME!, ".claude/settings.json")
    const [page, json] = [await bench.here(["config"]), await bench.here(["config", "--json"])]
    expect(page.stdout).toContain("Your settings for Claude Code")
    expect(page.stdout.replace(/\s+/g, " ")).toContain(`variable API_TOKEN: (hidden) (${file})`)
    const { claude } = JSON.parse(json.stdout)
    expect(claude).toMatchObject({ decision: "undecided", directory: dirname(file) })
    expect(claude.restricting).toHaveLength(201)
    expect(claude.unused).toContain("statusLine")
    expect(page.stdout + json.stdout).not.toContain("secret")
  })

  test.runIf(isWhole)("a file that is not JSON is reported clearly, and its rules that deny count", async () => {
    const broken = '{ "permissions": { "deny": ["Bash(touch:*)",] }, "env": { "KEY": "sk-person-secret-4711" } '
    await using bench = await personal([calls({ Bash: { command: "touch widened.txt" } }), "Done."], broken)
    const { code, stderr } = await bench.here(["run", "Work.", "--mode", "bypass"])
    expect(code).toBe(0)
    expect(stderr).toContain("settings.json is not JSON")
    expect(existsSync(join(bench.project, "widened.txt"))).toBe(false)
    expect(stderr).not.toContain("secret")
  })
})

describe.concurrent.each(TERMINALS)(
  "PERM-3 strata chat and the person's settings for Claude Code, in $name",
  ({ open }) => {
    test.runIf(isWhole)("asks once, and keeps the answer", async () => {
      await using bench = await personal(["I am here."], {
        ...SETTINGS,
        permissions: { deny: ["WebSearch"], allow: ["Bash"] },
      })
      const chat = () => open({ command: [...bench.command, "chat"], cwd: bench.project, env: bench.env })
      {
        await using first = chat()
        await first.sees("use, ignore or quit?")
        for (const text of [
          "hook on SessionStart",
          "allow rule",
          "variable API_TOKEN",
          "output style Terse",
          "statusLine",
        ])
          expect(first.screen()).toContain(text)
        expect(first.screen()).not.toContain("secret")
        first.type("use")
        first.press("enter")
        await first.sees("Type a task, or /help.")
      }
      expect(ran(bench)).toBe("hook hello\n")
      const { claude } = JSON.parse((await bench.here(["config", "--json"])).stdout)
      expect(claude.decision).toBe("use")
    })
  },
)
