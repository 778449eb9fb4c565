import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { describe, expect, onTestFinished, test } from "vitest"
import { openJournal, pathsIn, temporaryRoot, textsOf, userEntry } from "../../../test/journal-files.ts"
import { needs } from "../../../test/needs.ts"
import { isWhole } from "../../../test/size.ts"
import { ConversationLockedError, LockLostError } from "../../base/errors.ts"
import { breakLock, findLocks } from "./find-locks.ts"
import { checkOwner, thisProcess } from "./lock-owner.ts"

const HOLDER = fileURLToPath(new URL("../../../test/lock-holder.ts", import.meta.url))
const NEW_SPACE = ["--pid", "--fork", "--mount-proc", "--kill-child"]

async function temporary() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  return root
}

/** Starts a process that opens the journal, in a pid namespace of its own as in another container. */
function holder(root: string, space: "own space" | "this space" = "own space") {
  const command = [process.execPath, HOLDER, root]
  const [file, ...args] = space === "own space" ? ["unshare", ...NEW_SPACE, ...command] : command
  const child = spawn(file!, args, { stdio: ["pipe", "pipe", "ignore"] }) // unshare complains when its child is killed
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  onTestFinished(() => end(child))
  return {
    child,
    line: async () => String((await lines.next()).value),
    async append(text: string) {
      child.stdin.write(`${text}\n`)
      return this.line()
    },
  }
}

/** The pid of the lock holder itself, not of the program that created its namespace. */
function innermost({ pid }: ChildProcess): number {
  const list = `/proc/${pid}/task/${pid}/children`
  return (existsSync(list) && Number(readFileSync(list, "utf8"))) || pid!
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  process.kill(innermost(child), "SIGKILL") // unshare ends with its child
  await exit
}

describe("JRN-3 a lock between two containers with one host name", needs("namespaces"), () => {
  test("JRN-3 the second does not get the lock of a living first, and only the first is acknowledged", async () => {
    const root = await temporary()
    const first = holder(root)
    expect(await first.line()).toBe("opened")
    const second = holder(root)
    expect(await second.line()).toMatch(/^ConversationLockedError: .*already open in process/)
    await expect(openJournal(root)).rejects.toThrow(ConversationLockedError)
    expect(await first.append("one")).toBe("acknowledged")
  })

  test.runIf(isWhole)(
    "JRN-3 the lock of one that was killed is taken over at once, from outside and from another container",
    async () => {
      const root = await temporary()
      const first = holder(root)
      await first.line()
      await first.append("one")
      await end(first.child)
      const second = holder(root)
      expect(await second.line()).toBe("opened")
      expect(await second.append("two")).toBe("acknowledged")
      await end(second.child)
      const journal = await openJournal(root)
      expect(journal.opening.tookOverLock).toBe(true)
      expect(await textsOf(journal)).toEqual(["one", "two"])
      await journal.close()
      const left = readdirSync(pathsIn(root).directory)
      expect(left.filter((name) => /alive|lock/.test(name))).toEqual([]) // neither sockets nor owner files
    },
  )

  test.runIf(isWhole)("JRN-3 one that is stopped keeps its lock", async () => {
    const root = await temporary()
    const first = holder(root)
    await first.line()
    process.kill(innermost(first.child), "SIGSTOP")
    await expect(openJournal(root)).rejects.toThrow(ConversationLockedError)
    const second = holder(root)
    expect(await second.line()).toMatch(/^ConversationLockedError: .*already open in process/)
    process.kill(innermost(first.child), "SIGCONT")
    expect(await first.append("one")).toBe("acknowledged")
  })
})

describe("JRN-3 a lock that is broken", () => {
  test.runIf(isWhole)("JRN-3 its holder gets a typed error, and nothing of it is acknowledged or written", async () => {
    const root = await temporary()
    const first = holder(root, "this space")
    await first.line()
    expect(await first.append("one")).toBe("acknowledged")
    const { lock, journal: path } = pathsIn(root)
    writeFileSync(lock, JSON.stringify({ ...(await thisProcess("now")), token: "another" }))
    const before = readFileSync(path, "utf8")
    expect(await first.append("two")).toMatch(/^LockLostError: .*This write was not made/)
    expect(readFileSync(path, "utf8")).toBe(before)
    first.child.stdin.end()
    await once(first.child, "exit")
    expect(readFileSync(lock, "utf8")).toContain("another") // the process that lost the lock does not release it
  })

  test("JRN-3 a failed write is not cut off once another process may have written after it", async () => {
    const root = await temporary()
    const journal = await openJournal(root)
    await journal.append([userEntry("one")])
    const { lock } = pathsIn(root)
    writeFileSync(lock, "broken")
    await expect(journal.append([userEntry("two")])).rejects.toThrow(LockLostError)
    const other = await openJournal(root)
    await other.append([userEntry("theirs")])
    await expect(journal.append([userEntry("three")])).rejects.toThrow(LockLostError)
    await journal.close()
    expect(await textsOf(other)).toEqual(["one", "theirs"])
    await other.close()
  })

  test("JRN-3 a living holder's lock cannot be broken; one that cannot be judged can, and is named with its file", async () => {
    const root = await temporary()
    const journal = await openJournal(root)
    const { directory, lock } = pathsIn(root)
    const [mine] = await findLocks([directory])
    expect(mine).toMatchObject({ path: lock, status: "alive" })
    expect(await breakLock(mine!)).toBe(false)
    await journal.close()
    writeFileSync(lock, JSON.stringify({ ...(await thisProcess("yesterday")), host: "gone", boot: "another" }))
    const error = await openJournal(root).catch((thrown: Error) => thrown)
    expect(String(error)).toContain('run "strata unlock c"')
    expect(String(error)).toContain(lock)
    const [theirs] = await findLocks([directory])
    expect(theirs).toMatchObject({ host: "gone", status: "unknown" })
    expect(await breakLock({ ...theirs!, token: "of a later holder" })).toBe(false)
    expect(await breakLock(theirs!)).toBe(true)
    await (await openJournal(root)).close()
  })
})

test("JRN-3 whether an owner lives is judged by what its process id means here", async () => {
  const me = await thisProcess("now")
  expect(await checkOwner(me)).toBe("alive")
  expect(await checkOwner({ ...me, pid: 2 ** 22 - 3 })).toBe("dead")
  expect(await checkOwner({ ...me, host: "elsewhere", boot: "" })).toBe("unknown")
  if (process.platform !== "linux") return
  expect(await checkOwner({ ...me, host: "renamed since" })).toBe("alive") // the same kernel
  expect(await checkOwner({ ...me, boot: "another", machine: "" })).toBe("unknown")
  expect(await checkOwner({ ...me, boot: "another", machine: "other" })).toBe("unknown")
  expect(await checkOwner({ ...me, space: "pid:[1]" })).toBe("unknown") // no socket
  if (me.machine) expect(await checkOwner({ ...me, boot: "another" })).toBe("dead") // this machine was restarted since then
})
