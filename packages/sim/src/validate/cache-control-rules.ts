/** Rules about where `cache_control` is allowed. */
import { type Breakpoint, explicitBreakpoints, lastCacheable } from "../cache/breakpoints.ts"
import type { Rule } from "./rule.ts"

const MAX_BREAKPOINTS = 4

export const CACHE_CONTROL_RULES: readonly Rule[] = [
  {
    name: "no cache_control on empty text",
    refuses: ({ body }) => {
      const marked = explicitBreakpoints(body).find(({ block }) => block.type === "text" && block.text === "")
      return marked && `${marked.path}: cache_control cannot be set for empty text blocks`
    },
  },
  {
    name: "at most four breakpoints",
    refuses: ({ body }) => {
      const explicit = explicitBreakpoints(body)
      const automatic = body.cache_control && !lastCacheable(body)?.block.cache_control ? 1 : 0
      const found = explicit.length + automatic
      return found > MAX_BREAKPOINTS
        ? `A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${found}.`
        : undefined
    },
  },
  {
    name: "automatic caching agrees with the mark on the last block",
    refuses: ({ body }) => {
      const last = lastCacheable(body)
      const mark = last?.block.cache_control
      return body.cache_control && mark && (mark.ttl ?? "5m") !== (body.cache_control.ttl ?? "5m")
        ? `cache_control.ttl: the top-level cache_control has another ttl than ${last.path}, which it applies to`
        : undefined
    },
  },
  {
    name: "one-hour breakpoints before five-minute ones",
    refuses: ({ body }) => {
      const marks: readonly Pick<Breakpoint, "path" | "ttl">[] = [
        ...explicitBreakpoints(body).map(({ path, ttl }) => ({ path: `${path}.cache_control`, ttl })),
        ...(body.cache_control ? [{ path: "cache_control", ttl: body.cache_control.ttl ?? "5m" }] : []), // always the last mark
      ]
      const firstShort = marks.findIndex(({ ttl }) => ttl === "5m")
      const late = firstShort < 0 ? undefined : marks.slice(firstShort).find(({ ttl }) => ttl === "1h")
      return (
        late &&
        `${late.path}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
          "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
      )
    },
  },
]
