/** What compiled files import, and what the compiler leaves for us to do about it in declarations: paths in `.ts`, types that may be missing. */

/** Static and lazy imports, re-exports, and types by `import("…")`. What stands in comments is an example, not an import. */
const IMPORT = /(?<=\b(?:from|import)\s*\(?\s*")[^"\s]+(?=")/g
const COMMENT_LINE = /^\s*(?:\/\*|\*|\/\/).*$/gm

export const withoutComments = (code: string): string => code.replace(COMMENT_LINE, "")

export function importsOf(code: string): readonly string[] {
  return withoutComments(code).match(IMPORT) ?? []
}

/** Tools other than this compiler look for `.js` and find the declaration beside it. */
export function withCompiledPaths(declaration: string): string {
  return declaration.replace(IMPORT, (path) => (path.startsWith(".") ? path.replace(/\.tsx?$/, ".js") : path))
}

/** Types of a package that need not be installed are `any` where it is not, instead of an error in a file that is not the user's. */
export function withOptionalTypes(declaration: string, optional: ReadonlySet<string>): string {
  return declaration.replace(/^import type .* from "(.+)";$/gm, (line, specifier: string) =>
    optional.has(packageNameOf(specifier)) ? `// @ts-ignore: ${specifier} need not be installed\n${line}` : line,
  )
}

/** `@scope/name/deep/path` and `name/deep` without what follows the package's name. */
export function packageNameOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
}
