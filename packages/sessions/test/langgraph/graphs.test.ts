/** Real graphs of LangGraph on Strata's saver. Another process is simulated by another saver on another handle of the same files. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages"
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type StateSnapshot,
} from "@langchain/langgraph"
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint"
import { expect, onTestFinished, test } from "vitest"
import { fileStore } from "../../../core/src/journal/file/file-store.ts"
import { isWhole } from "../../../core/test/size.ts"
import { strataSaver } from "../../src/langgraph.ts"

const CONFIG = { configurable: { thread_id: "chat-7" } }

/** Each call returns the saver of another process. */
function processes(): () => BaseCheckpointSaver {
  const root = mkdtempSync(join(tmpdir(), "strata-langgraph-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return () => {
    const saver = strataSaver({ store: fileStore({ root, flush: "never" }) })
    onTestFinished(() => saver.close())
    return saver
  }
}

/** Calls a tool as often as requested, then answers. */
function worker(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }) => {
      const number = messages.length
      const isDone = messages.filter((message) => message instanceof ToolMessage).length >= 3
      const calls = isDone ? [] : [{ id: `call-${number}`, name: "look", args: { at: number } }]
      return { messages: [new AIMessage({ id: `ai-${number}`, content: `Step ${number}.`, tool_calls: calls })] }
    })
    .addNode("tools", ({ messages }) => {
      const [call] = (messages.at(-1) as AIMessage).tool_calls ?? []
      return { messages: [new ToolMessage({ id: `t-${call!.id}`, tool_call_id: call!.id!, content: "a file" })] }
    })
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) =>
      ((messages.at(-1) as AIMessage).tool_calls ?? []).length > 0 ? "tools" : END,
    )
    .addEdge("tools", "model")
    .compile({ checkpointer })
}

const texts = (messages: readonly BaseMessage[]) => messages.map((message) => [message.id, message.type, message.text])

test("BEY-12: an agent with tools has the state and the history that it has with LangGraph's own saver", async () => {
  const next = processes()
  const theirs = new MemorySaver()
  for (const text of ["first", "second"]) {
    const input = { messages: [new HumanMessage({ id: text, content: text })] }
    const [ours, other] = [await worker(next()).invoke(input, CONFIG), await worker(theirs).invoke(input, CONFIG)]
    expect(texts(ours.messages)).toEqual(texts(other.messages))
  }
  const historyOf = async (saver: BaseCheckpointSaver) => {
    const rows: unknown[] = []
    for await (const { values, next, metadata } of worker(saver).getStateHistory(CONFIG))
      rows.push([
        texts((values as { messages?: BaseMessage[] }).messages ?? []),
        next,
        metadata?.step,
        metadata?.source,
      ])
    return rows
  }
  const history = await historyOf(next())
  expect(history).toEqual(await historyOf(theirs))
  expect(history).toHaveLength(12)
})

test("BEY-12: an interrupted graph continues in another process", async () => {
  const next = processes()
  const graph = (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(Annotation.Root({ answer: Annotation<string> }))
      .addNode("ask", () => ({ answer: interrupt<string, string>("Which port?") }))
      .addEdge(START, "ask")
      .compile({ checkpointer })
  await graph(next()).invoke({ answer: "" }, CONFIG)
  const waiting = await graph(next()).getState(CONFIG)
  expect(waiting.tasks[0]?.interrupts[0]?.value).toBe("Which port?")
  expect(await graph(next()).invoke(new Command({ resume: "4711" }), CONFIG)).toEqual({ answer: "4711" })
})

test.runIf(isWhole)("BEY-12: a graph continues from an old checkpoint, and both branches stay", async () => {
  const next = processes()
  const input = { messages: [new HumanMessage({ id: "h", content: "go" })] }
  await worker(next()).invoke(input, CONFIG)
  const history: StateSnapshot[] = []
  for await (const snapshot of worker(next()).getStateHistory(CONFIG)) history.push(snapshot)
  const old = history.find(({ metadata }) => metadata?.step === 2)!
  const end = await worker(next()).getState(CONFIG)
  const edited = await worker(next()).updateState(old.config, {
    messages: [new AIMessage({ id: "edited", content: "no" })],
  })
  const { messages } = await worker(next()).invoke(null, edited)
  expect(texts(messages).map(([id]) => id)).toContain("edited")
  const kept = await worker(next()).getState(end.config)
  expect(texts(kept.values.messages)).toEqual(texts(end.values.messages))
  expect(texts(kept.values.messages).map(([id]) => id)).not.toContain("edited")
})

test.runIf(isWhole)("BEY-12: a subgraph that waits continues in another process", async () => {
  const next = processes()
  const State = Annotation.Root({ texts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }) })
  const graph = (checkpointer: BaseCheckpointSaver) => {
    const inner = new StateGraph(State)
      .addNode("before", () => ({ texts: ["before"] }))
      .addNode("ask", () => ({ texts: [interrupt<string, string>("?")] }))
      .addEdge(START, "before")
      .addEdge("before", "ask")
      .compile()
    return new StateGraph(State).addNode("inner", inner).addEdge(START, "inner").compile({ checkpointer })
  }
  await graph(next()).invoke({ texts: ["start"] }, CONFIG)
  const waiting = await graph(next()).getState(CONFIG, { subgraphs: true })
  expect(JSON.stringify(waiting.tasks[0]?.state)).toContain("before")
  const { texts } = await graph(next()).invoke(new Command({ resume: "yes" }), CONFIG)
  expect(texts.at(-1)).toBe("yes")
})

test.runIf(isWhole)("BEY-12: after a crash only the parallel nodes that had not ended run again", async () => {
  const next = processes()
  const runs: string[] = []
  let fails = true
  const graph = (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(
      Annotation.Root({ done: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }) }),
    )
      .addNode("good", () => {
        runs.push("good")
        return { done: ["good"] }
      })
      .addNode("bad", async () => {
        runs.push("bad")
        await new Promise(setImmediate) // the other one has ended by then
        if (fails) throw new Error("killed")
        return { done: ["bad"] }
      })
      .addEdge(START, "good")
      .addEdge(START, "bad")
      .compile({ checkpointer })
  await expect(graph(next()).invoke({ done: [] }, CONFIG)).rejects.toThrow("killed")
  fails = false
  expect((await graph(next()).invoke(null, CONFIG)).done.toSorted()).toEqual(["bad", "good"])
  expect(runs.toSorted()).toEqual(["bad", "bad", "good"])
})
