/** Inside a compiled executable the entry lies in a file system of its own: `/$bunfs/` or, on Windows, `B:\~BUN\`. */
const isCompiled = /^(\/\$bunfs\/|B:[\\/]~BUN[\\/])/i.test(Bun.main);

/** How this program starts itself as a child: the executable alone, or the runtime with the entry file. */
export function selfCommand(): readonly string[] {
  return isCompiled ? [process.execPath] : [process.execPath, Bun.main];
}
