import { describe, expect, test } from "vitest"
import { matchesUrl } from "../tools/web/hosts.ts"
import { pathFits } from "./path-rules.ts"
import { judge, type PermissionPolicy } from "./permissions.ts"
import { ruleProblems } from "./rules.ts"

const project = "/work/project"
const place = { project, home: "/home/me" }

describe("PERM-4 patterns for paths, as people write them", () => {
  test.each([
    [".env", "/work/project/.env", true],
    [".env", "/work/project/a/b/.env", true],
    [".env", "/work/project/.env.local", false],
    ["*.env", "/work/project/a/prod.env", true],
    ["*.env", "/work/project/.env", true],
    ["src/**", "/work/project/src/a/b.ts", true],
    ["src/**", "/work/project/lib/src/a.ts", false],
    ["./secrets/**", "/work/project/secrets/.key", true],
    ["secrets/", "/work/project/secrets/a", true],
    ["**/secrets/**", "/work/project/a/secrets/b", true],
    ["~/**", "/home/me/.ssh/id_rsa", true],
    ["~/.ssh/**", "/home/me/.ssh", true],
    ["/etc/**", "/etc/a/b", true],
    ["//etc/**", "/etc/a/b", true],
    ["/etc/hosts", "/etc/hosts", true],
    ["/etc/host", "/etc/hosts", false],
    ["src/{a,b}.ts", "/work/project/src/b.ts", true],
    ["src/[ab].ts", "/work/project/src/c.ts", false],
    ["src/?.ts", "/work/project/src/a.ts", true],
    ["a+b(c)", "/work/project/a+b(c)", true],
    ["~bob/x", "/home/bob/x", false],
  ] as const)("%s and %s: %s", (pattern, path, expected) => {
    expect(pathFits(pattern, path, { ...place, strict: false })).toBe(expected)
    expect(pathFits(pattern, path, { ...place, strict: true })).toBe(expected)
  })

  test("to deny, a bare name counts anywhere, and upper and lower case are one; to allow, neither", () => {
    for (const path of ["/other/.env", "/work/project/.ENV"]) {
      expect(pathFits(".env", path, { ...place, strict: true })).toBe(true)
      expect(pathFits(".env", path, { ...place, strict: false })).toBe(false)
    }
  })

  test("rules for Read and Edit cover the other tools that read and write files", () => {
    const policy: PermissionPolicy = {
      mode: "bypass",
      allow: [],
      ask: [],
      deny: ["Read(.env)", "Edit(docs/**)"],
      protectedDirectories: [],
      ...place,
    }
    const verdict = (tool: string, kind: "read" | "write", path: string) =>
      judge({ tool, isReadOnly: kind === "read", question: { kind, summary: "", paths: [path] } }, policy).verdict
    for (const tool of ["Read", "Grep", "Glob"]) expect(verdict(tool, "read", `${project}/a/.env`)).toBe("deny")
    for (const tool of ["Edit", "Write"]) expect(verdict(tool, "write", `${project}/docs/a`)).toBe("deny")
    expect(verdict("Read", "read", `${project}/docs/a`)).toBe("allow")
  })
})

test("PERM-4 a rule that can match nothing is reported", () => {
  const tools = [{ name: "weather" }]
  const none = { allow: [], ask: [], deny: [] }
  const bad = [
    ...["Raed(.env)", "Bash()", "Bash(:*)", "Read(~bob/x)", "TodoWrite(x)", "Read .env", "Edit( )"],
    ...["Read($HOME/.ssh/**)", "Edit($XDG_CONFIG_HOME)"],
    ...["WebFetch(domain:)", "WebFetch(domain:*.)", "WebFetch(https://*)", "WebFetch(domain:a*.b)", "WebFetch(a b)"],
  ]
  for (const list of ["allow", "ask", "deny"])
    expect(ruleProblems({ ...none, [list]: bad }, tools)).toHaveLength(bad.length)
  expect(ruleProblems({ ...none, deny: ["Raed(.env)"], ask: ["Raed(.env)"] }, tools)).toEqual([
    'The permission rule "Raed(.env)" matches nothing: there is no tool named Raed.',
  ])
  const good = [
    "Bash",
    "Bash(npm test:*)",
    "Bash(git *)",
    "Read(.env)",
    "Edit(~/x/**)",
    "Read($lib/**)",
    "mcp__db",
    "weather",
    ...["WebFetch(domain:a.b)", "WebFetch(*.a.b)", "WebFetch(domain:*)", "WebFetch(https://a.b/docs/*)"],
    ...["WebFetch(localhost:3000)", "WebFetch(::1)"],
    "*",
  ]
  for (const list of ["allow", "ask", "deny"]) expect(ruleProblems({ ...none, [list]: good }, tools)).toEqual([])
})

describe("PERM-4 rules that go up with .., and domains with a path", () => {
  const none = { allow: [], ask: [], deny: [] }

  test.each([
    ["../x", "/work/x"],
    ["./../x/**", "/work/x/y"],
    ["src/../../x", "/work/x"],
    ["src/../y", "/work/project/y"],
  ])("%s denies, does not allow, and is reported only where it allows", (pattern, path) => {
    expect(pathFits(pattern, path, { ...place, strict: true })).toBe(true)
    expect(pathFits(pattern, path, { ...place, strict: false })).toBe(false)
    expect(ruleProblems({ ...none, deny: [`Read(${pattern})`], ask: [`Edit(${pattern})`] }, [])).toEqual([])
    expect(ruleProblems({ ...none, allow: [`Read(${pattern})`] }, [])).toHaveLength(1)
  })

  test("a whole path may have .. in it", () => {
    for (const strict of [true, false]) expect(pathFits("/work/a/../x", "/work/x/y", { ...place, strict })).toBe(true)
    expect(ruleProblems({ ...none, allow: ["Read(/work/a/../x)", "Read(~/a/../x)"] }, [])).toEqual([])
  })

  test("a directory whose name looks like a pattern", () => {
    const odd = { project: "/work/[app]", home: undefined, strict: true }
    expect(pathFits("src/../.env", "/work/[app]/.env", odd)).toBe(true)
  })

  test("a domain with a path covers the domain where it denies, and nothing where it allows", () => {
    const pattern = "example.com/docs"
    expect(matchesUrl("https://example.com/", { pattern, withSubdomains: true })).toBe(true)
    expect(matchesUrl("https://example.com/docs", { pattern, withSubdomains: false })).toBe(false)
    expect(ruleProblems({ ...none, allow: [`WebFetch(${pattern})`] }, [])).toHaveLength(1)
    expect(ruleProblems({ ...none, deny: [`WebFetch(${pattern})`] }, [])).toEqual([])
  })
})
