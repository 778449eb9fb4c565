/** A store that hands every call of the port to a function first: what counts calls, or lets one of them fail, needs no more than that. */
import type { Store } from "@strata/core/store"

/** A call of the port, such as `journal.append`. `run` makes it. */
export interface PortCall<T = unknown> {
  readonly name: string
  run(): Promise<T>
}

/** What calls become. A call that gives a stream is one call, made when the stream is begun. */
export type Tap = <T>(call: PortCall<T>) => Promise<T>

/** How the members of an object are called. Members that are not named here ask the store nothing. */
interface Shape {
  /** Its name in calls: `journal` gives `journal.append`. Empty: the store itself. */
  readonly name: string
  readonly calls?: readonly string[]
  readonly streams?: readonly string[]
  /** Members that give an object with calls of its own, at once. */
  readonly parts?: Readonly<Record<string, Shape>>
  /** Calls that resolve with an object with calls of its own. */
  readonly results?: Readonly<Record<string, Shape>>
  /** Fields of an object that have calls of their own. */
  readonly fields?: Readonly<Record<string, Shape>>
}

const JOURNAL: Shape = {
  name: "journal",
  calls: [
    ...["append", "sync", "tail", "resume", "before", "find", "findMany", "findByHandle", "readCheckpoint"],
    ...["writeCheckpoint", "writeBlob", "readBlob", "readNotes", "writeNotes", "close"],
  ],
  streams: ["entries", "stretch"],
}

const PERMIT: Shape = {
  name: "permit",
  calls: ["state", "take"],
  results: { take: { name: "", fields: { permit: { name: "permit", calls: ["release"] } } } },
}

const MEMORIES: Shape = {
  name: "memories",
  calls: ["list", "read", "readAll", "install", "problems"], // a watch hears of changes: it does not ask
}

const MAILBOXES: Shape = {
  name: "mailboxes",
  calls: ["send", "last", "read", "arrival", "join", "members", "change", "close"],
  results: { join: { name: "membership", calls: ["setIdle", "leave"] } },
}

const PASSAGES: Shape = {
  name: "passages",
  calls: ["marks", "extend", "remove", "clear", "news", "lists", "vocabulary", "rows", "having", "around"],
}

const STORE: Shape = {
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

/** A proxy, so that what an object leaves out stays left out, and what it changes later is seen. */
function tapped<T extends object>(target: T, shape: Shape, tap: Tap): T {
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

interface Tapping {
  readonly target: object
  readonly key: string | symbol
  readonly shape: Shape
  readonly tap: Tap
}

function memberOf({ target, key, shape, tap }: Tapping): Member {
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
