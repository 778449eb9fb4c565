/** Hooks written for Claude Code run unchanged, with its settings file, field names, environment and answers. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { expect, test } from "vitest"
import { ask, calling, resultsIn, scene } from "../../../test/scripted-agent.ts"
import { write } from "../../tools/files/write.ts"

test("HOOK-2 a script for Claude Code gets the fields it knows, and its answers count", async () => {
  const { cwd, open } = scene()
  const script = (name: string, text: string) => {
    mkdirSync(join(cwd, ".claude/hooks"), { recursive: true })
    writeFileSync(join(cwd, ".claude/hooks", name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(cwd, ".claude/hooks", name), 0o755)
    return { hooks: [{ type: "command", command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/${name}`, timeout: 30 }] }
  }
  const keep = (name: string) => `cat > "$CLAUDE_PROJECT_DIR/${name}.json"`
  const hooks = {
    PreToolUse: [
      {
        matcher: "Edit|Write",
        ...script(
          "before.sh",
          `${keep("before")}\ngrep -q forbidden before.json && { echo "not that one" >&2; exit 2; }\ngrep -q wanted before.json && echo '{"decision":"approve"}'\nexit 0`,
        ),
      },
    ],
    PostToolUse: [{ matcher: "Write", ...script("after.sh", keep("after")) }],
    Notification: [
      { matcher: "permission_prompt", ...script("notify.sh", `${keep("draft")}; mv draft.json notified.json`) },
    ],
  }
  writeFileSync(join(cwd, ".claude/settings.json"), JSON.stringify({ hooks }))
  const writing = (name: string) => calling("Write", { file_path: join(cwd, name), content: "x" })
  const asked: string[] = []
  const seen = (name: string) => JSON.parse(readFileSync(join(cwd, `${name}.json`), "utf8"))
  const agent = await open([writing("forbidden.txt"), writing("wanted.txt"), writing("doubtful.txt")], {
    tools: [write],
    trustProject: true,
    askPermission: async ({ id }) => {
      asked.push(id)
      while (!existsSync(join(cwd, "notified.json"))) await wait(2)
      return { allowed: false }
    },
  })
  const events = await ask(agent, "go")
  const { id, location } = agent.conversation
  expect(seen("after")).toMatchObject({
    ...{ session_id: id, transcript_path: location, cwd, permission_mode: "default", hook_event_name: "PostToolUse" },
    ...{ tool_name: "Write", tool_input: { file_path: join(cwd, "wanted.txt"), content: "x" } },
    tool_use_id: expect.stringMatching(/^toolu_/),
    tool_response: { filePath: join(cwd, "wanted.txt"), success: true },
  })
  expect(seen("before")).toMatchObject({ tool_input: { file_path: join(cwd, "doubtful.txt") }, tool_use_id: asked[0] })
  expect(seen("notified")).toMatchObject({
    hook_event_name: "Notification",
    message: "Strata needs your permission to use Write",
    notification_type: "permission_prompt",
  })
  expect(asked).toHaveLength(1)
  expect(resultsIn(events)[0]).toContain("not that one")
})
