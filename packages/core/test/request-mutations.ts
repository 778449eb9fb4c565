/**
 * Valid requests, and ways to invalidate them: a field dropped, a value of another type, a copy in a wrong position, roles swapped. A few
 * such mutations make the requests on which the validator and the simulator are compared.
 */
import fc from "fast-check"

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type Path = readonly (string | number)[]

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const PDF = Buffer.from("%PDF-1.4\n1 0 obj << /Type /Page >> endobj\n%%EOF").toString("base64")
const SHORT = { type: "ephemeral" }
const LONG = { type: "ephemeral", ttl: "1h" }
const text = (words: string) => ({ type: "text", text: words })
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }
const user = (...content: Json[]) => ({ role: "user", content })
const assistant = (...content: Json[]) => ({ role: "assistant", content })
const call = (id: string) => ({ type: "tool_use", id, name: "Look", input: { at: "here" } })
const result = (id: string, content: Json) => ({ type: "tool_result", tool_use_id: id, content })
const search = { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "q" } }
const found = { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] }
const thinking = { type: "thinking", thinking: "Hm.", signature: "c2ln" }
const LOOK = {
  name: "Look",
  description: "Looks.",
  input_schema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
}

const NEW = { model: "claude-opus-5-5", max_tokens: 2_000 }
const OLD = { model: "claude-sonnet-4-5", max_tokens: 2_000 }
const HELLO = { role: "user", content: "Hello." }

const VALID: readonly Json[] = [
  { ...NEW, messages: [HELLO] },
  {
    ...NEW,
    system: [{ ...text("Be brief."), cache_control: LONG }],
    tools: [{ ...LOOK, cache_control: LONG }],
    messages: [
      HELLO,
      assistant(thinking, text("So."), call("toolu_1"), call("toolu_2")),
      user(
        result("toolu_1", "Fine."),
        { ...result("toolu_2", [text("Bad."), image]), is_error: true, cache_control: SHORT },
        text("Go on."),
      ),
    ],
  },
  {
    ...NEW,
    cache_control: SHORT,
    messages: [
      user(image, { ...image, source: { type: "url", url: "https://a.example/a.png" } }, text("What is it?")),
      assistant({ ...text("A dot."), citations: null }, { type: "redacted_thinking", data: "ZGF0YQ==" }),
      user({ type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF }, title: "t" }),
    ],
  },
  {
    ...NEW,
    messages: [
      user(
        {
          type: "document",
          source: { type: "text", media_type: "text/plain", data: "words" },
          citations: { enabled: true },
        },
        { type: "document", source: { type: "content", content: [text("one"), image] } },
        { type: "search_result", source: "s", title: "t", content: [{ ...text("found"), cache_control: SHORT }] },
      ),
      assistant({
        ...text("It says so."),
        citations: [
          {
            type: "char_location",
            cited_text: "w",
            document_index: 0,
            document_title: null,
            start_char_index: 0,
            end_char_index: 1,
          },
        ],
      }),
      user(text("More.")),
      { role: "system", content: [text("It is noon.")] },
    ],
  },
  {
    ...NEW,
    tools: [
      LOOK,
      { type: "web_search_20260318", name: "web_search", max_uses: 3, allowed_domains: ["a.example"] },
      { type: "web_fetch_20260318", name: "web_fetch", citations: { enabled: true } },
      { type: "code_execution_20260521", name: "code_execution" },
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 100 },
      { type: "memory_20250818", name: "memory" },
      { type: "computer_20251124", name: "computer", display_width_px: 100, display_height_px: 100 },
      { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex", cache_control: SHORT },
    ],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    messages: [HELLO, assistant(search, found, text("Found.")), user(text("Thanks."))],
  },
  {
    ...NEW,
    tools: [LOOK],
    tool_choice: { type: "none" },
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "high", format: { type: "json_schema", schema: { type: "object" } } },
    stop_sequences: ["END"],
    metadata: { user_id: "u1" },
    service_tier: "auto",
    inference_geo: "us",
    speed: "standard",
    container: { id: "c1", skills: [] },
    diagnostics: { previous_message_id: null },
    system: "Be brief.",
    messages: [HELLO],
  },
  {
    ...OLD,
    tools: [LOOK],
    thinking: { type: "enabled", budget_tokens: 1_024 },
    messages: [HELLO, assistant(thinking, call("toolu_1")), user(result("toolu_1", ""))],
  },
  {
    ...OLD,
    tools: [LOOK, { ...LOOK, name: "See" }],
    tool_choice: { type: "tool", name: "See" },
    messages: [HELLO, assistant(text("Once upon"))],
  },
  { ...OLD, max_tokens: 0, messages: [HELLO, user(text("And again."))] },
  { ...NEW, messages: [HELLO, assistant(text("I look."), search)] },
]

/** Values that are valid in few positions. */
const ODD: readonly Json[] = [
  ...[null, true, false, 0, -1, 1.5, 1e9, "", " \n", "x", "toolu_1", "srv_1", "Look", "web_search", "user"],
  ...[
    "assistant",
    "system",
    "tool_use",
    "thinking",
    "ephemeral",
    "1h",
    "any",
    "object",
    "a".repeat(600),
    "half \ud83d",
  ],
  ...[[], {}, [[]], [null], [""], ["x", " "], { type: "x" }, { type: "text" }, SHORT, LONG],
  ...[{ type: "any" }, { type: "tool", name: "Look" }, { type: "disabled" }, { type: "adaptive" }, { enabled: true }],
  ...[
    text("words"),
    text(""),
    text(" "),
    { ...text("words"), cache_control: SHORT },
    { ...text(""), cache_control: SHORT },
  ],
  ...[
    image,
    thinking,
    { ...thinking, cache_control: SHORT },
    { ...thinking, cache_control: null },
    search,
    found,
    LOOK,
  ],
  ...[call("toolu_1"), call("toolu_9"), call("bad id"), result("toolu_1", "Again."), result("toolu_9", [image]), HELLO],
  ...[assistant(text("Hm.")), user(text("Hm."), LONG), { role: "system", content: "Now." }, user(), assistant()],
  ...[{ role: "system", content: [image] }, { role: "system" }, { type: "container_upload", file_id: "f" }],
  ...[
    { type: "web_search_20260318", name: "search" },
    { type: "web_search_19990101", name: "web_search" },
  ],
  ...[
    { type: "tool_result", tool_use_id: "srv_1" },
    { type: "tool_reference", tool_name: "Look" },
  ],
]

/** Names that have a meaning somewhere in the API. */
const NAMES = [
  ...["cache_control", "type", "text", "id", "name", "content", "role", "source", "citations", "is_error", "input"],
  ...[
    "tool_use_id",
    "stream",
    "tool_choice",
    "thinking",
    "system",
    "tools",
    "stop_sequences",
    "metadata",
    "max_tokens",
  ],
  ...["output_config", "temperature", "strict", "input_schema", "display", "ttl", "data", "media_type", "messages"],
  ...["container", "diagnostics", "blocked_domains", "max_uses", "defer_loading", "caller", "transformations", "shade"],
]

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function pathsOf(value: Json, path: Path = []): Path[] {
  const inner = Array.isArray(value)
    ? value.map((item, at) => [at, item])
    : isObject(value)
      ? Object.entries(value)
      : []
  return [path, ...(inner as [string | number, Json][]).flatMap(([key, item]) => pathsOf(item, [...path, key]))]
}

function valueAt(value: Json, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((at, key) => (at as never as Record<string | number, Json>)?.[key], value)
}

/** The value with `change` applied at a path. `undefined` removes it. */
function changed(value: Json, [key, ...rest]: Path, change: (old: Json) => Json | undefined): Json | undefined {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) {
    return value.flatMap((item: Json, at) => {
      const inner = at === key ? changed(item, rest, change) : item
      return inner === undefined ? [] : [inner]
    })
  }
  const entries = Object.entries(value as Record<string, Json>).flatMap(([name, item]): [string, Json][] => {
    const inner = name === key ? changed(item, rest, change) : item
    return inner === undefined ? [] : [[name, inner]]
  })
  return Object.fromEntries(entries)
}

interface Mutation {
  readonly kind: "drop" | "replace" | "copy" | "twice" | "swap" | "field" | "role" | "wrap"
  /** Choices, each taken modulo the number of alternatives. */
  readonly where: number
  readonly what: number
  readonly name: number
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom("drop", "replace", "copy", "twice", "swap", "field", "role", "wrap"),
  where: fc.nat(100_000),
  what: fc.nat(100_000),
  name: fc.nat(100_000),
})

const chosen = <T>(from: readonly T[], at: number): T => from[at % from.length]!

function mutate(request: Json, { kind, where, what, name }: Mutation): Json {
  const paths = pathsOf(request).slice(1)
  if (paths.length === 0) return request
  const path = chosen(paths, where)
  const at = (change: (old: Json) => Json | undefined, place: Path = path) => changed(request, place, change) ?? request
  switch (kind) {
    case "drop":
      return at(() => undefined)
    case "replace":
      return at(() => chosen(ODD, what))
    case "copy":
      return at(() => valueAt(request, chosen(paths, what)))
    case "twice":
      return inList(request, paths, where, (list, i) => [...list.slice(0, i), list[i]!, ...list.slice(i)])
    case "swap":
      return inList(request, paths, where, (list, i) => {
        const other = what % list.length
        return list.map((item, place) => (place === i ? list[other]! : place === other ? list[i]! : item))
      })
    case "field": {
      const objects = [[], ...paths].filter((each) => isObject(valueAt(request, each)))
      const value = what % 3 === 0 ? chosen([SHORT, LONG], what) : chosen(ODD, what)
      const field = what % 3 === 0 ? "cache_control" : chosen(NAMES, name)
      return at((old) => ({ ...(old as object), [field]: value }), chosen(objects, where))
    }
    case "role": {
      const roles = paths.filter((each) => each.at(-1) === "role")
      return roles.length === 0
        ? request
        : at(() => chosen(["user", "assistant", "system"], what), chosen(roles, where))
    }
    case "wrap":
      return at((old) => (what % 2 === 0 ? [old] : result("toolu_1", [old])))
  }
}

function inList(
  request: Json,
  paths: readonly Path[],
  where: number,
  change: (list: readonly Json[], at: number) => readonly Json[],
): Json {
  const items = paths.filter((path) => typeof path.at(-1) === "number")
  if (items.length === 0) return request
  const path = chosen(items, where)
  return changed(request, path.slice(0, -1), (list) => change(list as Json[], path.at(-1) as number)) ?? request
}

/** A valid request with one to three mutations. Its model is one that the simulator has. */
export const mutatedRequests: fc.Arbitrary<unknown> = fc
  .tuple(fc.constantFrom(...VALID), fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([request, mutations]) => {
    const mutated = mutations.reduce(mutate, request)
    return isObject(mutated) && typeof mutated.model === "string" && mutated.model !== ""
      ? { ...mutated, model: (request as { model: string }).model }
      : mutated
  })

export const VALID_REQUESTS: readonly unknown[] = VALID
