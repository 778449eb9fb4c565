/** A store that passes every call of the port through a function, which may count the call or make it fail. */
import type { Store } from "@strata/core/store"

/** A call of the port, such as `journal.append`. `run` makes it. */
export interface PortCall<T = unknown> {
  readonly name: string
  run(): Promise<T>
}

/** Intercepts calls. A call that returns a stream is one call, made when the stream is first read. */
export type Tap = <T>(call: PortCall<T>) => Promise<T>

/** Which members of an object are calls. Members that are not named here do not ask the store. */
interface TapShape {
  /** The prefix in call names: `journal` gives `journal.append`. Empty for the store itself. */
  readonly name: string
  readonly calls?: readonly string[]
  readonly streams?: readonly string[]
  /** Members that synchronously return an object with calls of its own. */
  readonly parts?: Readonly<Record<string, TapShape>>
  /** Calls that resolve with an object that has calls of its own. */
  readonly results?: Readonly<Record<string, TapShape>>
  /** Fields with an object that has calls of its own. */
  readonly fields?: Readonly<Record<string, TapShape>>
}

const JOURNAL: TapShape = {
  name: "journal",
  calls: [
    ...["append", "sync", "tail", "resume", "before", "find", "findMany", "findByHandle", "readCheckpoint"],
    ...["writeCheckpoint", "writeBlob", "readBlob", "readNotes", "writeNotes", "close"],
  ],
  streams: ["entries", "range"],
}

const PERMIT: TapShape = {
  name: "permit",
  calls: ["state", "take"],
  results: { take: { name: "", fields: { permit: { name: "permit", calls: ["release"] } } } },
}

const MEMORIES: TapShape = {
  name: "memories",
  calls: ["list", "read", "readAll", "install", "problems"], // a watch receives changes and makes no calls
}

const MAILBOXES: TapShape = {
  name: "mailboxes",
  calls: ["send", "last", "read", "arrival", "join", "members", "change", "close"],
  results: { join: { name: "membership", calls: ["setIdle", "leave"] } },
}

const PASSAGES: TapShape = {
  name: "passages",
  calls: [
    "positions",
    "extend",
    "remove",
    "clear",
    "changes",
    "postings",
    "vocabulary",
    "rows",
    "containing",
    "neighbors",
  ],
}

const STORE: TapShape = {
  name: "",
  calls: ["open", "projects", "list", "has", "writerOf"],
  results: { open: JOURNAL },
  parts: {
    ...{ memories: MEMORIES, mailboxes: MAILBOXES, permit: PERMIT },
    feed: { name: "feed", calls: ["poll", "sizes"], streams: ["lines"] },
    passages: PASSAGES,
    log: { name: "log", calls: ["read", "append"] },
    contents: { name: "contents", calls: ["lines", "files", "write", "erase", "prune"], streams: ["list"] },
  },
}

export const tappedStore = (store: Store, tap: Tap): Store => tapped(store, STORE, tap)

type Member = (...given: readonly unknown[]) => unknown

/** A proxy, so that optional members remain absent and later changes of the object are visible. */
function tapped<T extends object>(target: T, shape: TapShape, tap: Tap): T {
  const members = new Map<string | symbol, unknown>()
  return new Proxy(target, {
    get(_, key) {
      const value = Reflect.get(target, key, target) as unknown
      const field = typeof key === "string" ? shape.fields?.[key] : undefined
      if (field && typeof value === "object" && value !== null) return tapped(value, field, tap)
      if (typeof value !== "function") return value
      if (!members.has(key)) members.set(key, memberOf({ target, key, shape, tap }))
      return members.get(key)
    },
  })
}

interface TapOptions {
  readonly target: object
  readonly key: string | symbol
  readonly shape: TapShape
  readonly tap: Tap
}

function memberOf({ target, key, shape, tap }: TapOptions): Member {
  const member: Member = (...given) => (Reflect.get(target, key, target) as Member).apply(target, [...given])
  if (typeof key !== "string") return member
  const name = shape.name === "" ? key : `${shape.name}.${key}`
  const part = shape.parts?.[key]
  if (part) return (...given) => tapped(member(...given) as object, part, tap)
  if (shape.streams?.includes(key)) return (...given) => streamOf({ name, run: async () => member(...given) }, tap)
  if (!shape.calls?.includes(key)) return member
  const result = shape.results?.[key]
  return async (...given) => {
    const answer = await tap({ name, run: async () => member(...given) })
    return result ? tapped(answer as object, result, tap) : answer
  }
}

async function* streamOf(call: PortCall, tap: Tap): AsyncGenerator<unknown> {
  yield* (await tap(call)) as AsyncIterable<unknown>
}
