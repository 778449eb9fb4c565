import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import { InvalidIdError, MailboxFullError, MailboxMessageError, MemberNameTakenError } from "../base/errors.ts"
import { fileStore } from "./file/file-store.ts"
import { memoryStore } from "./in-memory/store.ts"
import type { Mailbox, MailboxDraft } from "./mailbox.ts"

// the contract of the port: every store passes it

const TEAM = { project: "p", team: "t" }
const draft = (from: string, text: string, ...to: string[]): MailboxDraft => ({ from, to, content: { text } })
const textsOf = ({ messages }: Awaited<ReturnType<Mailbox["read"]>>) =>
  messages.map(({ from, sequence, content }) => `${from}#${sequence} ${String(content.text)}`)

const stores = {
  "on disk": async () => {
    const { root, remove } = await temporaryRoot()
    onTestFinished(remove)
    return fileStore({ root, flush: "always" })
  },
  "in memory": async () => memoryStore(),
}

for (const [kind, open] of Object.entries(stores)) {
  const opened = async () => {
    const store = await open()
    const mailbox = store.mailboxes(TEAM)
    onTestFinished(() => mailbox.close())
    return { store, mailbox }
  }

  test(`L7-5 a mailbox ${kind} gives every reader all messages after its cursor, in order for each sender`, async () => {
    const { mailbox } = await opened()
    expect(await mailbox.read(undefined)).toMatchObject({ messages: [], problems: [] })
    await Promise.all(["one", "two", "drei\nmit Ümlaut", "四"].map((text) => mailbox.send(draft("a", text, "b"))))
    const first = await mailbox.read(undefined)
    expect(textsOf(first)).toEqual(["a#1 one", "a#2 two", "a#3 drei\nmit Ümlaut", "a#4 四"])
    expect(await mailbox.send(draft("c", "other", "a", "b"))).toMatchObject({ sequence: 1, to: ["a", "b"] })
    await mailbox.send(draft("a", "five", "c"))
    expect(textsOf(await mailbox.read(first.cursor))).toEqual(["c#1 other", "a#5 five"])
    expect(textsOf(await mailbox.read(first.messages[2]!.cursor))).toEqual(["a#4 四", "c#1 other", "a#5 five"])
    expect([await mailbox.last("a"), await mailbox.last("c"), await mailbox.last("unknown")]).toEqual([5, 1, 0])
    const end = await mailbox.read(undefined)
    expect(await mailbox.read(end.cursor)).toEqual({ messages: [], cursor: end.cursor, problems: [] })
  })

  test(`L7-5 teams ${kind} do not read each other's messages, and names cannot lead elsewhere`, async () => {
    const { store, mailbox } = await opened()
    await mailbox.send(draft("a", "for t", "b"))
    const other = store.mailboxes({ ...TEAM, team: "other" })
    expect((await other.read(undefined)).messages).toEqual([])
    expect(() => store.mailboxes({ ...TEAM, team: "../t" })).toThrow(InvalidIdError)
    for (const name of ["../a", "", "a/b", "*"]) {
      await expect(mailbox.send(draft(name, "x", "b"))).rejects.toThrow(InvalidIdError)
      await expect(mailbox.send(draft("a", "x", name))).rejects.toThrow(InvalidIdError)
      await expect(mailbox.join({ name, conversation: "c" })).rejects.toThrow(InvalidIdError)
    }
    await expect(mailbox.send(draft("a", "x"))).rejects.toThrow(MailboxMessageError)
    await expect(mailbox.send(draft("a", "x".repeat(500_001), "b"))).rejects.toThrow(MailboxMessageError)
    for (const cursor of ["x", "-1", "1:x", "../1:1"])
      await expect(mailbox.read(cursor)).rejects.toThrow(InvalidIdError)
    expect(textsOf(await mailbox.read(undefined))).toEqual(["a#1 for t"])
  })

  test(`L7-5 a name in a team ${kind} has one member, and its next holder reads on where the last one was`, async () => {
    const { store, mailbox } = await opened()
    const membership = await mailbox.join({ name: "b", conversation: "one" })
    expect(membership.cursor).toBeUndefined()
    const second = store.mailboxes(TEAM)
    onTestFinished(() => second.close())
    await expect(second.join({ name: "b", conversation: "two" })).rejects.toThrow(MemberNameTakenError)
    await second.join({ name: "a", conversation: "two" })
    expect(await mailbox.members()).toEqual([
      { name: "a", conversation: "two" },
      { name: "b", conversation: "one" },
    ])
    await mailbox.send(draft("a", "read", "b"))
    const { cursor } = await mailbox.read(undefined, "b")
    await mailbox.send(draft("a", "unread", "b"))
    await membership.leave(cursor)
    expect((await mailbox.members()).map(({ name }) => name)).toEqual(["a"])
    const next = await second.join({ name: "b", conversation: "three" })
    expect(textsOf(await second.read(next.cursor, "b"))).toEqual(["a#2 unread"])
  })

  test(`L7-5 a member of a team ${kind} says that it waits, and where it has read to`, async () => {
    const { store, mailbox } = await opened()
    const membership = await mailbox.join({ name: "b", conversation: "one" })
    const other = store.mailboxes(TEAM)
    onTestFinished(() => other.close())
    await other.send(draft("a", "read", "b"))
    const { cursor } = await mailbox.read(undefined)
    const changed = other.change(new AbortController().signal)
    await other.members() // by then the store is loaded and listens
    await membership.setIdle(cursor)
    await changed
    expect(await other.members()).toEqual([{ name: "b", conversation: "one", idleAt: cursor }])
    await other.send(draft("a", "unread", "b"))
    expect(textsOf(await other.read(cursor))).toEqual(["a#2 unread"])
    await membership.setIdle(undefined)
    expect(await other.members()).toEqual([{ name: "b", conversation: "one" }])
  })

  test(`L7-5 a mailbox ${kind} refuses more messages than may wait for one receiver`, async () => {
    const { mailbox } = await opened()
    await mailbox.join({ name: "b", conversation: "c" })
    const send = (text: string) => mailbox.send(draft("a", text, "b"), { waiting: 3 })
    const sent = await Promise.allSettled(["1", "2", "3", "4"].map(send))
    expect(sent.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"])
    await expect(send("5")).rejects.toThrow(MailboxFullError)
    await expect(send("5")).rejects.toThrow('3 messages already wait for "b"')
    await mailbox.send(draft("a", "for another", "c"), { waiting: 3 })
    const { messages } = await mailbox.read(undefined, "b")
    await expect(send("5")).rejects.toThrow(MailboxFullError) // read, but not saved yet
    await mailbox.read(messages[1]!.cursor, "b")
    expect(await send("5")).toMatchObject({ sequence: 5 })
    expect(await send("6")).toMatchObject({ sequence: 6 })
    await expect(send("7")).rejects.toThrow(MailboxFullError)
  })

  test(`L7-5 waiting for a message ${kind} ends with its arrival or with the signal`, async () => {
    const { store, mailbox } = await opened()
    const { signal } = new AbortController()
    const first = mailbox.arrival(undefined, signal)
    const sender = store.mailboxes(TEAM)
    onTestFinished(() => sender.close())
    await sender.send(draft("a", "one", "b"))
    await first
    const { cursor } = await mailbox.read(undefined)
    const second = mailbox.arrival(cursor, signal)
    await sender.send(draft("a", "two", "b"))
    await second
    const stop = new AbortController()
    const last = mailbox.arrival((await mailbox.read(cursor)).cursor, stop.signal)
    stop.abort()
    await last
  })
}
