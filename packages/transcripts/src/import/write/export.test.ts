import { describe, expect, test } from "vitest"
import type { Entry } from "../../../../core/src/journal/entries.ts"
import type { Block } from "../../../../core/src/messages/blocks.ts"
import { importTranscript } from "../import-file.ts"
import { exportTranscript } from "./export.ts"
import { EXPORT_FORMATS } from "./formats.ts"

const AT = "2026-01-02T03:04:05.000Z"
const KEY = `ghp_${"a1B2".repeat(9)}`
const IMAGE = Buffer.from(`\u0001\u0002 GITHUB_TOKEN=${KEY} `.repeat(3)).toString("base64")

const user = (uuid: string, content: string | readonly Block[], more: object = {}): Entry =>
  ({ type: "user", uuid, parentUuid: null, timestamp: AT, message: { role: "user", content }, ...more }) as Entry
const model = (uuid: string, content: readonly Block[], more: object = {}): Entry =>
  ({
    ...{ type: "assistant", uuid, parentUuid: null, timestamp: AT, ...more },
    message: { role: "assistant", id: `msg_${uuid}`, model: "claude-opus-5", content },
  }) as Entry
const call = (id: string, command: string): Block => ({ type: "tool_use", id, name: "Bash", input: { command } })
const result = (id: string, content: string): Block => ({ type: "tool_result", tool_use_id: id, content })

const about = { id: "11111111-2222-4333-8444-555555555555", cwd: "/home/ann/shop", title: "Fix the parser" }
const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

const WITH_SECRETS: readonly Entry[] = [
  user("a", [
    { type: "text", text: `use ${KEY} in /home/ann/shop and /home/annika` },
    { type: "image", source: { type: "base64", media_type: "image/png", data: IMAGE } },
  ]),
  model("b", [
    { type: "thinking", thinking: `they gave me ${KEY}`, signature: "c2lnbmVk" },
    { type: "text", text: "Running it." },
    call("toolu_1", `curl -H "Authorization: Bearer ${KEY}" file:///home/ann/x`),
  ]),
  user("c", [result("toolu_1", `GITHUB_TOKEN=${KEY}`)]),
]

describe("BEY-17: what is exported has no secrets and no home directory", () => {
  test.each(EXPORT_FORMATS)("%s", (to) => {
    const { text, secrets, omitted } = exportTranscript({ ...about, entries: WITH_SECRETS }, { to })
    expect(text).not.toContain(KEY)
    expect(secrets).toBeGreaterThanOrEqual(3)
    expect(text).toContain("[secret removed: ")
    expect(text).not.toMatch(/\/home\/ann\b/)
    expect(text).toContain("/home/annika")
    expect(Object.keys(omitted).join()).toContain("thinking")
  })

  test("whatever a field is called, and in its name", () => {
    const input = { data: KEY, id: KEY, type: KEY, signature: KEY, [KEY]: 1, list: [{ data: KEY }], "/home/ann/x": 2 }
    const entries = [
      model("b", [{ type: "tool_use", id: "toolu_1", name: "Post", input }]),
      user("c", [result("toolu_1", "ok")]),
    ]
    const { text } = exportTranscript({ ...about, entries }, { to: "claude-code" })
    expect(text).toContain("toolu_1")
    expect(text).not.toContain(KEY)
    expect(text).not.toMatch(/\/home\/ann\b/)
  })

  test("attachments and notes of another program", () => {
    const place = { parentUuid: null, timestamp: AT }
    const data = { type: "file", filename: "/home/ann/shop/.env", content: { data: `TOKEN=${KEY}` } }
    const entries = [
      { type: "attachment", uuid: "a", ...place, attachment: { type: "foreign", kind: "file", data } },
      { type: "system", uuid: "b", ...place, subtype: "compact_boundary", content: "", compactMetadata: { note: KEY } },
    ] as unknown as readonly Entry[]
    const { text } = exportTranscript({ ...about, entries }, { to: "claude-code" })
    expect(text).toContain("~/shop/.env")
    expect(text).not.toContain(KEY)
  })

  test("a home directory in the name of a folder or in an address", () => {
    const paths = "/home/ann/.claude/projects/-home-ann-shop/memory, file=%2Fhome%2Fann%2Fx, ls -home-ann"
    const { text } = exportTranscript({ ...about, entries: [user("a", paths)] }, { to: "markdown" })
    expect(text).toContain("~/.claude/projects/~-shop/memory, file=~%2Fx, ls -home-ann")
  })

  test("pictures stay byte for byte", () => {
    expect(exportTranscript({ ...about, entries: WITH_SECRETS }, { to: "claude-code" }).text).toContain(IMAGE)
  })

  test("a user who asks for it gets everything as it was", () => {
    const { text, secrets } = exportTranscript(
      { ...about, entries: WITH_SECRETS },
      { to: "claude-code", maskSecrets: false },
    )
    expect(secrets).toBe(0)
    expect(text.split(KEY)).toHaveLength(5)
    expect(text).toContain("/home/ann/shop")
  })

  test("a given home is shortened as well", () => {
    const entries = [user("a", "see /srv/people/bo/notes and C:\\Users\\bo\\x")]
    expect(exportTranscript({ ...about, entries }, { to: "claude-code", home: "/srv/people/bo" }).text).toContain(
      "see ~/notes",
    )
    expect(exportTranscript({ ...about, entries }, { to: "claude-code", home: "C:\\Users\\bo" }).text).toContain(
      "and ~",
    )
  })
})

describe("BEY-17: a transcript for Claude Code", () => {
  test("is one chain of lines that name session, directory and version", () => {
    const entries = [user("a", "Hello"), model("b", [{ type: "text", text: "Hi" }]), user("c", "Go on")]
    const [first, second, third, title] = lines(exportTranscript({ ...about, entries }, { to: "claude-code" }).text)
    expect([first.parentUuid, second.parentUuid, third.parentUuid]).toEqual([null, "a", "b"])
    const same = { sessionId: about.id, cwd: "~/shop", version: expect.any(String), isSidechain: false }
    for (const line of [first, second, third]) expect(line).toMatchObject({ ...same, timestamp: AT })
    expect(title).toMatchObject({ type: "custom-title", customTitle: "Fix the parser" })
  })

  test("begins again at a boundary, with the summary and the run of messages that were kept", () => {
    const boundary = {
      ...{ type: "system", subtype: "compact_boundary", uuid: "d", parentUuid: null, timestamp: AT },
      content: "Conversation compacted",
      compactMetadata: { trigger: "auto", preTokens: 9, preservedMessages: { anchorUuid: "e", uuids: ["b", "c"] } },
    } as Entry
    const entries = [
      ...[user("a", "Old"), user("b", "Kept"), model("c", [{ type: "text", text: "Kept too" }]), boundary],
      ...[user("e", "This session is being continued.", { isCompactSummary: true }), user("f", "New")],
    ]
    const written = lines(exportTranscript({ ...about, entries }, { to: "claude-code" }).text)
    expect(written[3]).toMatchObject({ parentUuid: null, logicalParentUuid: "c", isMeta: false, level: "info" })
    expect(written[3].compactMetadata.preservedSegment).toEqual({ headUuid: "b", anchorUuid: "e", tailUuid: "c" })
    expect(written[4]).toMatchObject({ parentUuid: "d", isCompactSummary: true })
    expect(written[5]).toMatchObject({ parentUuid: "e" })
  })

  test("has no thinking that the API would refuse", () => {
    const entries = [
      model("b", [
        { type: "thinking", thinking: "hm", signature: "" },
        { type: "text", text: "Hi" },
      ]),
    ]
    const { text, omitted } = exportTranscript({ ...about, entries }, { to: "claude-code" })
    expect(text).not.toContain("hm")
    expect(omitted).toEqual({ "thinking without a signature, which the API would refuse": 1 })
  })
})

test("BEY-17: what was typed while the model worked comes where it was delivered", () => {
  const delivered = { type: "strata", subtype: "delivered", uuid: "e", parentUuid: null, timestamp: AT, queued: "q" }
  const entries = [
    ...[user("a", "Start"), model("b", [call("toolu_1", "ls")]), user("q", "Also this", { isQueued: true })],
    ...[user("c", [result("toolu_1", "x")]), delivered as Entry, model("d", [{ type: "text", text: "Done" }])],
  ]
  const { text } = exportTranscript({ ...about, entries }, { to: "claude-code" })
  const roles = importTranscript({ name: "x", text })[0]!.messages.map(
    ({ type, ...rest }) => `${type} ${JSON.stringify(rest).includes("Also this")}`,
  )
  expect(roles).toEqual(["user false", "assistant false", "user false", "user true", "assistant false"])
})

describe("BEY-17: a page in markdown", () => {
  const shown = (entries: readonly Entry[]) => exportTranscript({ ...about, entries }, { to: "markdown" }).text

  test("has the messages, and each call on a line with the start of its result", () => {
    const entries = [
      user("a", "Please list the files"),
      model("b", [{ type: "text", text: "I look." }, call("toolu_1", "ls -la")]),
      user("c", [result("toolu_1", "one\ntwo\nthree")]),
      model("d", [{ type: "text", text: "Three files." }]),
    ]
    expect(shown(entries)).toMatchInlineSnapshot(`
      "# Fix the parser

      - Directory: \`~/shop\`
      - From: \`2026-01-02T03:04:05.000Z to 2026-01-02T03:04:05.000Z\`
      - Conversation: \`11111111-2222-4333-8444-555555555555\`

      ## You

      Please list the files

      ## Model

      I look.

      - **Bash** \`ls -la\` → \`one\` (3 lines)

      Three files.

      "
    `)
  })

  test("nothing in it acts", () => {
    const hostile =
      "<script>alert(1)</script> ![x](https://evil.example/p.png) `<b>` \u202Eabc\u001b[2J\n```html\n<i>\n```\n# Big"
    const text = shown([user("a", hostile), model("b", [call("toolu_1", "echo `<img src=x>` ``y``")])])
    for (const hidden of ["\u202e", "\u001b"]) expect(text).not.toContain(hidden)
    expect(text).toContain("&lt;script>")
    expect(text).toContain("&#33;[x]")
    expect(text).toContain("`<b>`")
    expect(text).toContain("```html\n<i>\n```")
    expect(text).toContain("\n### Big")
    expect(text).toContain("``` echo `<img src=x>` ``y`` ```")
  })

  test.each([
    ["a span that begins a line earlier", "a `\n` <script> `"],
    ["an escaped backtick", "\\`<script>`"],
    ["no fence: backticks in its first line", "``` a`b\n<script>\n```"],
    ["a fence that ends with its list", "- a\n  ```\nb <script>"],
    ["a fence that is not closed by an indented one", "```\n    ```\n```\n<script>"],
    ["an indented fence at the beginning", "    ```\n\n```\n<script>\n```"],
    ["a bar that ends the cell of a table", "| a | b |\n|---|---|\n| `x | <script>` |"],
  ])("markup is spelled out where code only seems to be: %s", (_, hostile) => {
    expect(shown([user("a", hostile)])).not.toContain("<script>")
  })

  test("a picture is not loaded, also after a backslash", () => {
    expect(shown([user("a", "\\![x](https://evil.example/p.png)")])).not.toContain("![")
  })

  test("the name of a tool ends no code after it", () => {
    const hostile: Block = { type: "tool_use", id: "t", name: "`", input: { command: "<script>" } }
    expect(shown([model("b", [hostile])])).toContain("- **&#96;** `<script>`")
  })

  test("a code block that is not closed ends with its message", () => {
    const text = shown([user("a", "```\nopen"), model("b", [{ type: "text", text: "after" }])])
    expect(text).toContain("```\nopen\n```\n\n## Model\n\nafter")
  })
})
