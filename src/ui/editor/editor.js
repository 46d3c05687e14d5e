// The editor, bundled into dist/editor.js and fetched when it is first entered. It stands in a
// shadow root: there CodeMirror can bring its styles along under a strict Content-Security-Policy.

import { Compartment, EditorState, Text } from "@codemirror/state";
import {
  EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers,
} from "@codemirror/view";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { yaml } from "@codemirror/lang-yaml";
import { tags } from "@lezer/highlight";

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--desired)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--observed)", fontWeight: "600" },
  { tag: tags.string, color: "var(--ink)" },
  { tag: [tags.lineComment, tags.comment], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.meta, tags.separator, tags.punctuation], color: "var(--muted)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "transparent", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { padding: "0.5rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 0.75rem 0 0.25rem" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--muted)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2rem", padding: "0 0.375rem 0 0.5rem", fontSize: "0.75rem" },
  ".cm-activeLine": { backgroundColor: "var(--sunk)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "color-mix(in srgb, var(--focus) 28%, transparent)" },
  ".cm-selectionMatch": { backgroundColor: "var(--desired-soft)" },
  ".cm-matchingBracket": { backgroundColor: "var(--desired-soft)", outline: "none" },
  ".cm-panels": { backgroundColor: "var(--sunk)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)", fontSize: "0.8125rem" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)", fontSize: "0.8125rem" },
  ".cm-panel.cm-search label": { fontSize: "0.8125rem" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "0.4375rem" },
  ".cm-tooltip-lint": { maxWidth: "22rem", fontFamily: "var(--sans)", fontSize: "0.8125rem" },
  ".cm-diagnostic": { padding: "0.375rem 0.625rem", borderLeftWidth: "3px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--trouble)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--trouble) 1.5px", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn) 1.5px", textUnderlineOffset: "3px" },
});

/** A text that is longer, or nests deeper, is not read for its colours: the parser recurses. */
const LENGTH_READ = 500_000;
const DEPTH_READ = 500;

/** Whether the colours of a text are worth their reading. The count of brackets is a rough one. */
function isReadable(doc) {
  if (doc.length > LENGTH_READ) return false;
  let depth = 0;
  for (const piece of doc.iter()) {
    for (const letter of piece) {
      if (letter === "[" || letter === "{") depth++;
      else if (letter === "]" || letter === "}") depth = Math.max(0, depth - 1);
      if (depth > DEPTH_READ) return false;
    }
  }
  return true;
}

/** YAML for as long as the text is readable; it changes together with the text. */
function yamlIfReadable(text) {
  const [language, colored, plain] = [new Compartment(), yaml(), []];
  const of = (doc) => (isReadable(doc) ? colored : plain);
  const follow = EditorState.transactionExtender.of(({ docChanged, newDoc, startState }) => {
    if (!docChanged) return null;
    const next = of(newDoc);
    return next === language.get(startState) ? null : { effects: language.reconfigure(next) };
  });
  return [language.of(of(Text.of(text.split("\n")))), follow];
}

/** Puts an editor into `host`. `onChange` gets each new text, `onApply` is Ctrl/Cmd-Enter. */
function create(host, text, onChange, onApply) {
  const root = host.attachShadow({ mode: "open" });
  const frame = root.appendChild(document.createElement("div"));
  frame.style.height = "100%";
  let silent = false;
  const view = new EditorView({
    parent: frame,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        // Before the default keys, in which Mod-Enter inserts a line.
        keymap.of([{ key: "Mod-Enter", run: () => (onApply(), true) }]),
        lineNumbers(), lintGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(),
        highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(),
        search({ top: true }), yamlIfReadable(text), indentUnit.of("  "), EditorState.tabSize.of(2),
        syntaxHighlighting(colors), look,
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !silent) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });

  return {
    setText(next) {
      const old = view.state.doc.toString();
      if (old === next) return;
      silent = true;
      view.dispatch({ changes: smallest(old, next) });
      silent = false;
    },
    /** `problems`: lists of line, column, end column (from 1), message, severity. */
    setProblems(problems) {
      const list = problems.map((problem) => diagnostic(view.state, ...problem));
      list.sort((a, b) => a.from - b.from);
      view.dispatch(setDiagnostics(view.state, list));
    },
    setLabel(label) {
      view.contentDOM.setAttribute("aria-label", label);
    },
    focus(at) {
      view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) }, scrollIntoView: true });
      view.focus();
    },
  };
}

/** The one stretch that differs, so that the cursor stays where it was. */
function smallest(old, next) {
  let from = 0;
  while (from < old.length && from < next.length && old[from] === next[from]) from++;
  let oldEnd = old.length;
  let nextEnd = next.length;
  while (oldEnd > from && nextEnd > from && old[oldEnd - 1] === next[nextEnd - 1]) {
    oldEnd--;
    nextEnd--;
  }
  return { from, to: oldEnd, insert: next.slice(from, nextEnd) };
}

/** A squiggle under the place; nothing is so short that it could not be seen. */
function diagnostic(state, line, column, end, message, severity) {
  const at = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)));
  const from = Math.min(at.from + Math.max(0, column - 1), at.to);
  const word = end > column ? end - column : 1;
  const to = Math.min(from + word, at.to);
  return { from, to, message, severity };
}

globalThis.loopscopeEditor = { create };
