import { expect, test } from "vitest"
import { unnamedTypes } from "./public-types.ts"

const found = (files: Readonly<Record<string, string>>) =>
  unnamedTypes("index.d.ts", (file) => files[file]!).map(({ name, file, usedBy }) => `${usedBy}: ${file} ${name}`)

test("types of properties, parameters, results and type arguments need a name, and so do those that they name", () => {
  const files = {
    "index.d.ts": 'export { open, type Thing } from "./thing.ts";\n',
    "thing.d.ts": `import { type A, type B as C } from "./a.ts";
export interface Thing {
    readonly a?: A;
    /** Not { Comment }. */
    find(by: C): Promise<readonly Result[]>;
}
interface Result {
    readonly inner: import("./deep/d.ts").D;
}
export interface Comment {
}
export declare function open(options: Options): Thing;
export type Options = {
    readonly kind: "A" | "Comment";
};
`,
    "a.d.ts": "export type A = 1;\nexport type B = 2;\n",
    "deep/d.d.ts": "export interface D {\n    Key: string;\n}\ninterface Key {\n}\n",
  }
  expect(found(files)).toEqual([
    "open: thing.d.ts Options",
    "Thing: a.d.ts A",
    "Thing: a.d.ts B",
    "Thing: thing.d.ts Result",
    "Result: deep/d.d.ts D",
  ])
})

test("another name for a type is a name, also through a file between", () => {
  const files = {
    "index.d.ts": 'export type { Open, Opened as Result } from "./between.ts";\n',
    "between.d.ts": 'export { type Open, type Opened } from "./open.ts";\n',
    "open.d.ts": "export type Opened = 1;\nexport type Open = () => Opened;\n",
  }
  expect(found(files)).toEqual([])
})

test("a base needs no name, but what its members name does, and so does a base that a member names", () => {
  const files = {
    "index.d.ts": 'export type { Child, Other } from "./a.ts";\n',
    "a.d.ts": `interface Base<T extends Limit<1>> {
    readonly part: Part;
}
type Limit<T> = T;
type Part = 1;
interface Shape {
}
interface Parent {
}
export interface Child extends Base<Own>, Pick<Parent, "x"> {
}
type Own = 1;
export declare class Other<T extends Limit<1>> extends Parent implements Shape {
    parent(): Parent;
}
`,
  }
  expect(found(files)).toEqual(["Other: a.d.ts Limit", "Other: a.d.ts Parent", "Base: a.d.ts Part"])
})

test("a value after typeof is no type", () => {
  const files = {
    "index.d.ts": 'export type { Mode } from "./a.ts";\n',
    "a.d.ts": 'export declare const MODES: readonly ["ask"];\nexport type Mode = (typeof MODES)[number];\n',
  }
  expect(found(files)).toEqual([])
})
