/** `strata run '/review src'`: commands and skills of the user and of a trusted project, as in the chat. */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ScriptedTurn } from "@strata/sim"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { type Workbench, workbench } from "./workbench.ts"

const SKILL = "---\nname: deploy\ndescription: Deploys\n---\nPush to $ARGUMENTS slowly.\n"

async function bench(files: Readonly<Record<string, string>>) {
  const sent: string[] = []
  const turn: ScriptedTurn = ({ request }) => {
    sent.push(JSON.stringify(request.messages))
    return "Done."
  }
  const made = await workbench({ turns: [turn, turn, turn], files })
  return { made, sent, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() }
}

function putHome({ env }: Workbench, file: string, text: string): void {
  mkdirSync(dirname(join(env.HOME!, file)), { recursive: true })
  writeFileSync(join(env.HOME!, file), text)
}

describe.concurrent("PERM-3 slash commands in strata run", () => {
  test.runIf(isWhole)("the person's own commands and skills are filled in", async () => {
    await using place = await bench({})
    const { made, sent } = place
    putHome(made, ".claude/commands/review.md", "Review $1 with care, all of: $ARGUMENTS")
    putHome(made, ".claude/skills/deploy/SKILL.md", SKILL)
    expect(await made.here(["run", "/review src now"])).toMatchObject({ code: 0, stdout: "Done.\n" })
    expect(sent[0]).toContain("Review src with care, all of: src now")
    await made.here(["run", "/deploy staging"])
    expect(sent[1]).toContain("Push to staging slowly.")
    expect(sent[1]).toContain("/deploy staging")
  })

  test("those of a project count after it was trusted, and piped input follows", async () => {
    await using place = await bench({ ".claude/commands/review.md": "Review $1 with care." })
    const { made, sent } = place
    const before = await made.here(["run", "/review src"])
    expect(before.stderr).toContain("There is no command or skill /review here")
    expect(sent[0]).not.toContain("with care")
    await made.here(["trust", "--yes"])
    await made.here(["run", "/review src"], { stdin: "the diff" })
    expect(sent[1]).toContain("Review src with care.\\n\\nthe diff")
  })

  test("what a command runs needs the rules' yes, and its wishes for tools grant nothing", async () => {
    await using place = await bench({})
    const { made, sent } = place
    putHome(made, ".claude/commands/make.md", "---\nallowed-tools: Bash(touch:*)\n---\nNow !`touch made.txt`\n")
    const refused = await made.here(["run", "/make"])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain("touch made.txt did not run")
    expect(sent).toEqual([])
    const allowed = await made.here(["run", "/make", "--allow", "Bash(touch:*)"])
    expect(allowed.code).toBe(0)
    expect(sent[0]).toContain("the output of touch made.txt")
  })

  test("a path is a task", async () => {
    await using place = await bench({})
    const { made, sent } = place
    const { stderr } = await made.here(["run", "/tmp/x.txt is broken"])
    expect(stderr).not.toContain("There is no command")
    expect(sent[0]).toContain("/tmp/x.txt is broken")
  })
})
