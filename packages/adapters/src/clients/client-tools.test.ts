import { expect, test } from "vitest"
import { canReadFiles } from "./client-tools.ts"

const body = (...names: readonly unknown[]) => ({ tools: names.map((name) => ({ name })) })

test.each([
  ["Claude Code", ["Agent", "Bash", "Edit", "Read"]],
  ["Claude Code on Windows, without Bash", ["PowerShell", "Edit"]],
  ["opencode", ["bash", "edit", "glob", "read"]],
  ["pi", ["read", "write"]],
  ["Codex", ["exec_command", "apply_patch"]],
  ["Gemini CLI", ["run_shell_command"]],
  ["the API's own shell", ["bash"]],
  ["the API's own editor", ["str_replace_based_edit_tool"]],
])("BEY-11 the model of %s can read a file", (_, names) => {
  expect(canReadFiles(body(...names))).toBe(true)
})

test.each([
  ["no tools", {}],
  ["an empty list", { tools: [] }],
  ["something else than a list", { tools: { name: "Read" } }],
  ["tools of its own", body("get_weather", "search", "send_email", "query")],
  ["tools that read something else", body("read_email", "readPage", "WebFetch", "view_calendar", "open_ticket")],
  ["tools of MCP servers", body("mcp__filesystem__read_file", "mcp__mail__read")],
  ["tools that run on the server", body("code_execution", "web_search", "bash_code_execution")],
  ["tools that have no name", { tools: [null, {}, { name: 7 }, { name: ["Read"] }] }],
])("BEY-11 a model with %s cannot", (_, request) => {
  expect(canReadFiles(request)).toBe(false)
})
