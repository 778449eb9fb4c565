/** What a paused process writes when it continues, such as one on a sleeping laptop or in a frozen container. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setImmediate } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { ADDRESS, openJournal, pathsIn, temporaryRoot, textsOf, userEntry } from "../../../test/journal-files.ts"
import { needs } from "../../../test/needs.ts"
import { everyNth, isWhole } from "../../../test/size.ts"
import { systemClock } from "../../base/clock.ts"
import { LockLostError } from "../../base/errors.ts"
import { MemberNameTakenError } from "../mailbox.ts"
import { breakLock, findLocks } from "./find-locks.ts"
import { createFence, PooledFile } from "./guarded-writes.ts"
import { acquireLock, holderOf, removeLock } from "./lock.ts"
import { thisProcess } from "./lock-owner.ts"
import { MailboxDirectory } from "./mailbox-directory.ts"
import { readMember, takeMember, writeMember } from "./mailbox-members.ts"
import { openFileJournal } from "./open-file-journal.ts"

const WRITER = fileURLToPath(new URL("../../../test/paused-writer.ts", import.meta.url))

async function temporary(): Promise<string> {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  return root
}

/** Starts a process that has the conversation open. */
async function writer(root: string, place: "here" | "elsewhere") {
  const child = spawn(process.execPath, [WRITER, root, place], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async () => String((await lines.next()).value)
  const exit = once(child, "exit")
  const kill = async () => {
    child.kill("SIGKILL")
    await exit
  }
  onTestFinished(kill)
  const write = (text: string) => child.stdin.write(`${text}\n`)
  const hasStopped = async () => {
    while (!/^\d+ \(.*\) T /.test(readFileSync(`/proc/${child.pid}/stat`, "utf8"))) await setImmediate()
  }
  const fence = Number((await line()).replace("opened ", ""))
  return {
    ...{ fence, kill, line },
    goOn: () => child.kill("SIGCONT"),
    do(command: string) {
      write(command)
      return line()
    },
    async stop() {
      child.kill("SIGSTOP")
      await hasStopped()
    },
    /** Pauses the process between the check of the lock and the write. */
    async stopIn(command: string, step: string) {
      write(`stop ${step}`)
      write(command)
      expect(await line()).toBe(`at ${step}`)
      await hasStopped()
    },
  }
}

/** Breaks locks, as `strata unlock` does. */
async function unlock(root: string): Promise<void> {
  for (const lock of await findLocks([root])) expect(await breakLock(lock)).toBe(true)
}

/** All files below a directory with their bytes, except sockets. */
function filesBelow(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "latin1")]))
}

const inode = (root: string) => statSync(pathsIn(root).journal).ino

/** Continues the conversation in this process and writes each of its files. */
async function goOnHere(root: string) {
  const journal = await openJournal(root)
  onTestFinished(() => journal.close())
  await journal.append([userEntry("theirs")])
  await journal.writeCheckpoint({ of: "the new owner" })
  await journal.writeBlob("blob.txt", "of the new owner")
  await journal.writeNotes("of the new owner")
  journal.inFlight?.sent({ id: "new", purpose: "main", model: "m", usage: { input_tokens: 1, output_tokens: 1 } })
  return journal
}

describe("JRN-3 BEY-12 a writer that was paused", needs("linux"), () => {
  const stops: readonly (readonly [string, string, RegExp])[] = [
    ["append two", "append", /^LockLostError: .*This write was not /],
    ["large two", "append", /^LockLostError: .*This write was not /],
    ["blob", "blob", /^LockLostError: .*This write was not made/],
    ["notes", "notes", /^LockLostError: .*This write was not made/],
    ["checkpoint", "checkpoint", /^done$/], // the holder of the lock writes a checkpoint of its own
    ["in-flight", "in-flight", /^done$/], // the next line reports the lost lock
  ]
  test.each(everyNth(stops, 6))(
    "between the check of the lock and the write (%s), writes nothing once another has taken over",
    async (command, step, answer) => {
      const root = await temporary()
      const paused = await writer(root, "elsewhere")
      expect(await paused.do("append one")).toBe("done")
      await paused.stopIn(command, step)
      await unlock(root)
      const journal = await goOnHere(root)
      expect(journal.fence).toBeGreaterThan(paused.fence)
      const files = filesBelow(root)
      paused.goOn()
      const reply = await paused.line()
      expect(reply).toMatch(answer)
      if (reply.startsWith("Lock")) expect(reply).toContain(`process ${process.pid} on `) // names the present holder
      expect(filesBelow(root)).toEqual(files)
      expect(await paused.do("append three")).toMatch(/^LockLostError: .*This write was not made/)
      expect(await paused.do("close")).toBe("done")
      expect(filesBelow(root)).toEqual(files)
      expect(await textsOf(journal)).toEqual(["one", "theirs"])
      await journal.append([userEntry("and more")])
    },
  )

  test("in the middle of its work, writes nothing once another has taken over", async () => {
    const root = await temporary()
    const paused = await writer(root, "elsewhere")
    for (const command of ["append one", "blob", "checkpoint", "notes", "in-flight"])
      expect(await paused.do(command)).toBe("done")
    await paused.stop()
    await unlock(root)
    await goOnHere(root)
    const files = filesBelow(root)
    paused.goOn()
    for (const command of ["append two", "blob", "notes"]) expect(await paused.do(command)).toMatch(/^LockLostError/)
    for (const command of ["checkpoint", "in-flight", "close"]) expect(await paused.do(command)).toBe("done")
    expect(filesBelow(root)).toEqual(files)
  })

  test.runIf(isWhole)("goes on if no one has taken over, in the same file and with the same number", async () => {
    const root = await temporary()
    const paused = await writer(root, "elsewhere")
    expect(await paused.do("append one")).toBe("done")
    const before = inode(root)
    await paused.stop()
    await expect(openJournal(root)).rejects.toThrow("already open")
    paused.goOn()
    expect(await paused.do("append two")).toBe("done")
    await paused.stopIn("append three", "append")
    paused.goOn()
    expect(await paused.line()).toBe("done")
    expect(await holderOf(pathsIn(root).lock)).toMatchObject({ fence: paused.fence, status: "unknown" })
    expect(await paused.do("close")).toBe("done")
    expect(inode(root)).toBe(before)
    const journal = await openJournal(root)
    expect(await textsOf(journal)).toEqual(["one", "two", "three"])
    await journal.close()
  })

  test("and was killed, is replaced at once, in the same file and with the next number", async () => {
    const root = await temporary()
    const killed = await writer(root, "here")
    expect(await killed.do("append one")).toBe("done")
    await killed.stop()
    await killed.kill()
    const before = inode(root)
    const journal = await openJournal(root)
    expect(journal.opening.tookOverLock).toBe(true)
    expect(journal.fence).toBeGreaterThan(killed.fence)
    expect(inode(root)).toBe(before)
    await journal.close()
  })

  test.runIf(isWhole)(
    "while it sent a message to a team, writes nothing once another has the team's lock, and its next message arrives",
    async () => {
      const root = await temporary()
      const directory = join(root, "team")
      const paused = await writer(root, "elsewhere")
      expect(await paused.do("send one")).toBe("done")
      await paused.stopIn("send two", "send")
      await unlock(directory)
      const mailbox = new MailboxDirectory({ directory, flush: "turn", clock: systemClock })
      onTestFinished(() => mailbox.close())
      await mailbox.send({ from: "a", to: ["b"], content: { text: "theirs" } })
      const files = filesBelow(directory)
      paused.goOn()
      expect(await paused.line()).toMatch(/^LockLostError/)
      const log = join(directory, "00000001.log")
      expect(readFileSync(log, "latin1")).toBe(files[log])
      expect(await paused.do("send three")).toBe("done")
      await mailbox.send({ from: "a", to: ["b"], content: { text: "more" } })
      const { messages, problems } = await mailbox.read(undefined)
      expect(problems).toEqual([])
      expect(messages.map(({ from, sequence, content }) => `${from} ${sequence} ${content.text}`)).toEqual([
        ...["paused 1 one", "a 1 theirs", "paused 2 three", "a 2 more"],
      ])
    },
  )
})

describe("JRN-3 BEY-12 the number of an acquisition", () => {
  test("is larger after a release, also if the clock was set back, and the holder shows it", async () => {
    const path = join(await temporary(), "lock")
    const fences: number[] = []
    for (const now of [1_000, 0, 0]) {
      const clock = vi.spyOn(performance, "now").mockReturnValue(now)
      const attempt = await acquireLock(path, "now")
      clock.mockRestore()
      if (attempt.state !== "acquired") throw new Error("the lock is held")
      expect(await holderOf(path)).toMatchObject({ fence: attempt.lock.fence })
      fences.push(attempt.lock.fence)
      await attempt.lock.release()
    }
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b))
  })

  test("of a dead owner is followed by the time, or by the next where a clock was ahead", async () => {
    const root = await temporary()
    const dead = { ...(await thisProcess("yesterday")), pid: 2 ** 22 - 3 }
    for (const [name, fence] of [
      ["numbered", 41] as const,
      ["ahead", 8e15] as const,
      ["earlier", undefined] as const,
    ]) {
      const path = join(root, name)
      await writeFile(path, JSON.stringify({ ...dead, fence }))
      const attempt = await acquireLock(path, "now")
      if (attempt.state !== "acquired") throw new Error("the lock is held")
      if (name === "ahead") expect(attempt.lock.fence).toBe(8e15 + 1)
      else expect(attempt.lock.fence).toBeGreaterThan(1e15)
    }
  })
})

describe("JRN-3 BEY-12 a lock whose owner may still run", () => {
  const GONE = { pid: 7, host: "gone", since: "yesterday", started: "1", token: "t-of-gone", boot: "other", fence: 5 }

  test("is marked when it is broken, until an opening has moved the files away; a failed opening leaves the mark", async () => {
    const root = await temporary()
    const first = await openJournal(root)
    await first.append([userEntry("one")])
    await first.close()
    const { lock } = pathsIn(root)
    await writeFile(lock, JSON.stringify(GONE))
    await unlock(root)
    expect(await findLocks([root])).toEqual([])
    expect(await holderOf(lock)).toMatchObject({ pid: 0, isUnsettled: true })
    const before = inode(root)
    const failing = (step: string) => {
      if (step === "renew") throw new Error("the disk is full")
    }
    const options = { root, address: ADDRESS, access: "write", flush: "never", now: "now" } as const
    await expect(openFileJournal({ ...options, atStep: failing })).rejects.toThrow("the disk is full")
    expect(inode(root)).toBe(before)
    expect(await holderOf(lock)).toMatchObject({ pid: 0, isUnsettled: true })
    const second = await openJournal(root)
    expect(inode(root)).not.toBe(before)
    expect(await textsOf(second)).toEqual(["one"])
    await second.close()
    expect(Object.keys(filesBelow(root)).filter((path) => /lock|draft/.test(path))).toEqual([])
  })

  test("is not removed by a process that lost it while it released it", async () => {
    const path = join(await temporary(), "lock")
    await writeFile(path, "another's")
    removeLock({ path, token: "00000000-0000-0000-0000-000000000000", text: "mine" })
    expect(readFileSync(path, "utf8")).toBe("another's")
  })

  test("a file that gave its descriptor back is not written after that, though it is the same file", async () => {
    const root = await temporary()
    const attempt = await acquireLock(join(root, "lock"), "now")
    if (attempt.state !== "acquired") throw new Error("the lock is held")
    const path = join(root, "file")
    const file = await PooledFile.open(path, "a+", createFence(attempt.lock))
    await file.append(Buffer.from("one"))
    expect(file.releaseDescriptor()).toBe(true)
    await writeFile(join(root, "lock"), JSON.stringify(GONE))
    await expect(file.append(Buffer.from("two"))).rejects.toThrow(LockLostError)
    await expect(file.truncate(0)).rejects.toThrow(/process 7 on gone has taken over/)
    await file.close()
    expect(readFileSync(path, "utf8")).toBe("one")
  })
})

test("BEY-12 the file of a member is not written by a process whose name another has taken", async () => {
  const directory = await temporary()
  const { since: _, ...owner } = await thisProcess("")
  const first = { ...owner, name: "a", conversation: "c", hasLeft: false }
  await takeMember(directory, first)
  await writeMember(directory, { ...first, cursor: "1:10" })
  const draft = join(directory, "members", `a.json.${first.token.slice(0, 8)}`)
  await writeFile(draft, "a paused process is about to name it")
  const second = { ...first, token: "another", cursor: "1:20" }
  await takeMember(directory, second)
  expect(existsSync(draft)).toBe(false)
  await expect(writeMember(directory, { ...first, cursor: "1:5" })).rejects.toThrow(MemberNameTakenError)
  expect(readMember(directory, "a")).toEqual(second)
  expect(readdirSync(join(directory, "members"))).toEqual(["a.json"])
})
