import { readdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, onTestFinished, test } from "vitest"
import {
  claudeLines,
  claudePath,
  codexLines,
  copilotLines,
  geminiDocument,
  openCodeDatabase,
  piLines,
  scratch,
} from "../test/sample-transcripts.ts"
import { ProjectTranscripts } from "./project-transcripts.ts"

const ID = "11111111-1111-4111-8111-111111111111"
const OTHER = "22222222-2222-4222-8222-222222222222"

function place() {
  const made = scratch()
  onTestFinished(() => made.remove())
  return made
}

const found = async (options: { cwd: string; env: Record<string, string> }) => {
  const transcripts = await new ProjectTranscripts(options).list()
  const words = await Promise.all(
    transcripts.map(async ({ program, id, read }) => {
      const { messages = [] } = (await read()) ?? {}
      return `${program} ${id}: ${JSON.stringify(messages[0]).match(/I am [a-z-]+/)?.[0]}`
    }),
  )
  return words.toSorted()
}

test("BEY-11 the conversations of a project are found in the layout of each program", async () => {
  const { home, project: cwd, env, write } = place()
  write(claudePath(cwd, ID), claudeLines(cwd, ID, ["I am claude"]))
  write(`.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${ID}.jsonl`, codexLines(cwd, ID, "I am codex"))
  write(`.codex/archived_sessions/rollout-2026-01-02T03-04-05-${OTHER}.jsonl`, codexLines(cwd, OTHER, "I am archived"))
  write(`.pi/agent/sessions/--project--/2026-01-02T03-04-05_${ID}.jsonl`, piLines(cwd, ID, "I am pi"))
  write(
    `.gemini/tmp/some-hash/chats/session-2026-01-02T03-04-${ID.slice(0, 8)}.json`,
    geminiDocument(cwd, ID, "I am gemini"),
  )
  write(`.copilot/session-state/${ID}/events.jsonl`, copilotLines(cwd, ID, "I am copilot"))
  write(`.copilot/session-state/${OTHER}.jsonl`, copilotLines(cwd, OTHER, "I am flat"))
  openCodeDatabase(join(home, ".local/share/opencode/opencode.db"), [
    { id: "ses_1", directory: cwd, text: "I am opencode" },
    { id: "ses_2", directory: "/elsewhere", text: "I am elsewhere" },
  ])
  expect(await found({ cwd, env })).toEqual([
    `claude-code ${ID}: I am claude`,
    `codex ${ID}: I am codex`,
    `codex ${OTHER}: I am archived`,
    `copilot ${ID}: I am copilot`,
    `copilot ${OTHER}: I am flat`,
    "gemini 11111111: I am gemini",
    "opencode ses_1: I am opencode",
    `pi ${ID}: I am pi`,
  ])
})

test("BEY-11 where the environment says that a program keeps its transcripts, they are found", async () => {
  const { home, project: cwd, env, write } = place()
  const at = (name: string) => join(home, "kept", name)
  const moved = {
    ...{ CLAUDE_CONFIG_DIR: at("claude"), CODEX_HOME: at("codex"), PI_CODING_AGENT_DIR: at("pi") },
    ...{ GEMINI_CLI_HOME: at("g"), COPILOT_HOME: at("copilot"), XDG_DATA_HOME: at("data") },
  }
  write(`kept/claude/projects/p/${ID}.jsonl`, claudeLines(cwd, ID, ["I am claude"]))
  write(`kept/codex/sessions/2026/01/02/rollout-x-${ID}.jsonl`, codexLines(cwd, ID, "I am codex"))
  write(`kept/pi/sessions/p/x_${ID}.jsonl`, piLines(cwd, ID, "I am pi"))
  write(`kept/g/.gemini/tmp/p/chats/session-x-${ID.slice(0, 8)}.json`, geminiDocument("", ID, "I am gemini"))
  write("kept/g/.gemini/tmp/p/.project_root", cwd)
  write(`kept/copilot/session-state/${ID}/events.jsonl`, copilotLines(cwd, ID, "I am copilot"))
  // opencode before 1.2
  write("kept/data/opencode/storage/session/global/ses_1.json", JSON.stringify({ id: "ses_1", directory: cwd }))
  write("kept/data/opencode/storage/message/ses_1/msg_1.json", JSON.stringify({ id: "msg_1", role: "user" }))
  write("kept/data/opencode/storage/part/msg_1/prt_1.json", JSON.stringify({ type: "text", text: "I am opencode" }))
  expect((await found({ cwd, env: { ...env, ...moved } })).map((line) => line.split(" ")[0])).toEqual([
    ...["claude-code", "codex", "copilot", "gemini", "opencode", "pi"],
  ])
})

test("BEY-11 what is not the project's stays out: other directories, links, files without a directory", async () => {
  const { home, project: cwd, env, write } = place()
  const elsewhere = write(claudePath("/elsewhere", OTHER), claudeLines("/elsewhere", OTHER, ["I am elsewhere"]))
  write(claudePath(cwd, ID), claudeLines(cwd, ID, ["I am here"]))
  write(`outside/${OTHER}.jsonl`, claudeLines(cwd, OTHER, ["I am linked"]))
  symlinkSync(join(home, "outside", `${OTHER}.jsonl`), join(home, claudePath(cwd, OTHER)))
  symlinkSync(join(home, "outside"), join(home, ".claude/projects/linked"))
  symlinkSync(elsewhere, join(home, claudePath(cwd, "33333333-3333-4333-8333-333333333333")))
  write(".pi/agent/sessions/p/broken.jsonl", "not JSON\n")
  // no absolute path on this system: it must not match a directory below the project
  for (const path of ["D:\\\\project", "."])
    write(`.codex/archived_sessions/${path.length}.jsonl`, codexLines(path, OTHER, "I am of another system"))
  expect(await found({ cwd, env })).toEqual([`claude-code ${ID}: I am here`])
})

test("BEY-11 a subdirectory and a worktree of the repository are the same project", async () => {
  const { project: cwd, env, write, home } = place()
  for (const name of ["HEAD", "config"]) write(`../project/.git/${name}`, "")
  for (const name of ["objects", "refs"]) write(`../project/.git/${name}/x`, "")
  const below = join(cwd, "packages", "one")
  write(claudePath(below, ID), claudeLines(below, ID, ["I am below"]))
  expect(await found({ cwd, env })).toEqual([`claude-code ${ID}: I am below`])
  expect(await found({ cwd: dirname(home), env })).toEqual([])
})

test("BEY-11 reading opencode's database leaves no file next to it, and reads what is still in its log", async () => {
  const { home, project: cwd, env } = place()
  const file = join(home, ".local/share/opencode/opencode.db")
  openCodeDatabase(file, [{ id: "ses_1", directory: cwd, text: "I am settled" }])
  expect(await found({ cwd, env })).toEqual(["opencode ses_1: I am settled"])
  expect(readdirSync(dirname(file))).toEqual(["opencode.db"])
  const open = new DatabaseSync(file)
  onTestFinished(() => open.close())
  open.exec("UPDATE part SET data = replace(data, 'settled', 'logged')")
  expect(await found({ cwd, env })).toEqual(["opencode ses_1: I am logged"])
})
