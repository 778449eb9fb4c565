import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { afterEach, expect, test } from "vitest"
import { readTranscripts } from "../inspect/read-transcripts.ts"
import { findTranscripts } from "./find-transcripts.ts"

let home = ""

afterEach(() => rmSync(home, { recursive: true, force: true }))

function homeWith(files: Readonly<Record<string, string>>): string {
  home = mkdtempSync(join(tmpdir(), "strata-places-"))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  return home
}

async function found(options: Parameters<typeof findTranscripts>[0] = {}): Promise<readonly string[]> {
  const all = await findTranscripts({ home, env: {}, ...options })
  return all.map(({ program, path }) => `${program} ${relative(home, path)}`).toSorted()
}

const SESSION = "0b3c1e52-5b6f-4a7e-9d35-0123456789ab"

test("BEY-15 the transcripts of every program are found where it keeps them", async () => {
  homeWith({
    [`.claude/projects/-work/${SESSION}.jsonl`]: "{}",
    ".config/claude/projects/-work/other.jsonl": "{}",
    ".codex/sessions/2026/01/02/rollout-1.jsonl": "{}",
    ".codex/archived_sessions/rollout-2.jsonl": "{}",
    ".pi/agent/sessions/--work--/one.jsonl": "{}",
    ".gemini/tmp/abc/chats/session-1.json": "{}",
    ".copilot/session-state/one/events.jsonl": "{}",
    ".local/share/opencode/storage/session/global/ses_1.json": JSON.stringify({ id: "ses_1", directory: "/work" }),
    ".strata/projects/-work/mine.jsonl": "{}",
  })
  expect(await found()).toEqual([
    `claude-code .claude/projects/-work/${SESSION}.jsonl`,
    "claude-code .config/claude/projects/-work/other.jsonl",
    "codex .codex/archived_sessions/rollout-2.jsonl",
    "codex .codex/sessions/2026/01/02/rollout-1.jsonl",
    "copilot .copilot/session-state/one/events.jsonl",
    "gemini .gemini/tmp/abc/chats/session-1.json",
    "opencode .local/share/opencode/storage/session/global/ses_1.json",
    "pi .pi/agent/sessions/--work--/one.jsonl",
    "strata .strata/projects/-work/mine.jsonl",
  ])
})

test("BEY-15 files of sub-agents are not conversations, and another owner's journals are not listed", async () => {
  homeWith({
    [`.claude/projects/-work/${SESSION}/subagents/agent-1.jsonl`]: "{}",
    ".claude/projects/-work/agent-2.jsonl": "{}",
    ".strata/projects/-work_owner_0123/theirs.jsonl": "{}",
    ".strata/projects/-work_unowned/any.jsonl": "{}",
    "more/agent-3.jsonl": "{}",
    "more/one/subagents/x.jsonl": "{}",
  })
  expect(await found({ dirs: [join(home, "more")] })).toEqual([])
})

test("BEY-15 links are not followed", async () => {
  homeWith({ "outside/one.jsonl": "{}", ".claude/projects/-work/real.jsonl": "{}", "more/two.traj": "{}" })
  symlinkSync(join(home, "outside"), join(home, ".claude/projects/-linked"))
  symlinkSync(join(home, "outside/one.jsonl"), join(home, ".claude/projects/-work/linked.jsonl"))
  symlinkSync(join(home, "outside"), join(home, "more/linked"))
  expect(await found({ dirs: [join(home, "more")] })).toEqual([
    "claude-code .claude/projects/-work/real.jsonl",
    "other more/two.traj",
  ])
})

test("BEY-15 a session of opencode is read by the path that was found", async () => {
  homeWith({
    ".local/share/opencode/storage/session/global/ses_1.json": JSON.stringify({ id: "ses_1", directory: "/work" }),
    ".local/share/opencode/storage/message/ses_1/msg_1.json": JSON.stringify({ id: "msg_1", role: "user" }),
    ".local/share/opencode/storage/part/msg_1/prt_1.json": JSON.stringify({ type: "text", text: "I am opencode" }),
  })
  const [only] = await findTranscripts({ home, env: {} })
  const [transcript] = await readTranscripts(only!.path)
  expect(transcript).toMatchObject({ format: "opencode", id: "ses_1", cwd: "/work" })
  expect(transcript!.entries).toHaveLength(1)
})

test("BEY-15 only the named directories are looked into on request", async () => {
  homeWith({ ".claude/projects/-work/real.jsonl": "{}", "more/deep/er/two.jsonl": "{}", "more/readme.md": "" })
  expect(await found({ dirs: [join(home, "more")], onlyDirs: true })).toEqual(["other more/deep/er/two.jsonl"])
})
