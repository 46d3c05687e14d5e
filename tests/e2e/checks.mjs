// What is checked on any state of the page: accessibility, overflow, overlap. Each check gives a
// list of sentences; an empty list is good.

import assert from "node:assert/strict";
import axe from "axe-core";

// What lies over other things on purpose: dialogs; the plain editor's text area over its coloured
// text; a ring's button over what the ring shows; the list of messages, out of sight until the focus is in it; the bar that stays in view.
const ON_PURPOSE = "dialog, [popover], canvas, .editor-place, .ears-only, .in-flight, .transport, " +
  ".ring-place, .skip";
const LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Violations of WCAG levels A and AA, each with the elements that have it. */
export async function accessibilityProblems(page) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(
    (values) => globalThis.axe.run(document, { runOnly: { type: "tag", values } }),
    LEVELS,
  );
  return found.violations.map((violation) => {
    const where = violation.nodes.slice(0, 5).map((node) => node.target.join(" "));
    return `${violation.id}: ${violation.help}: ${where.join(", ")}`;
  });
}

/** Fails if there is any of the two. */
export async function assertSound(page) {
  const problems = [...(await accessibilityProblems(page)), ...(await overflowProblems(page))];
  assert.equal(problems.length, 0, `accessibility or overflow:\n  ${problems.join("\n  ")}`);
}

/**
 * What sticks out of the window sideways, or out of a box that cuts it off.
 * What lies in a box that scrolls, or ends in an ellipsis, is meant to.
 */
export function overflowProblems(page) {
  return page.evaluate(() => {
    const problems = [];
    const root = document.scrollingElement;
    if (root.scrollWidth > root.clientWidth) {
      problems.push(`the page is ${root.scrollWidth} px wide in ${root.clientWidth}`);
    }
    for (const element of document.body.querySelectorAll("*")) {
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const style = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      if (box.width <= 1 || box.height <= 1) continue; // there for screen readers only
      if (box.right > innerWidth + 1 && !inScroller(element)) {
        problems.push(`${name(element)} reaches to ${Math.round(box.right)} of ${innerWidth} px`);
      }
      const cut = style.overflowX === "hidden" || style.overflowX === "clip";
      if (cut && style.textOverflow !== "ellipsis" && hasText(element)) {
        if (element.scrollWidth > element.clientWidth + 1) problems.push(`${name(element)} is cut`);
      }
    }
    return problems;

    function inScroller(element) {
      for (let at = element.parentElement; at; at = at.parentElement) {
        const { overflowX } = getComputedStyle(at);
        if (overflowX !== "visible" && at !== document.body) return true;
      }
      return false;
    }
    function hasText(element) {
      return [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    }
    function name(element) {
      const text = (element.textContent ?? "").trim().slice(0, 30);
      return `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> ${text}`;
    }
  });
}

/**
 * Pieces of text, and controls, that cover each other by more than `slack` pixels both ways.
 * `ignore` is a selector for what lies over other things on purpose.
 */
export async function overlapProblems(page, { ignore = ON_PURPOSE, slack = 2 } = {}) {
  await page.waitForTimeout(900); // until what was arriving has arrived
  return page.evaluate(
    ({ ignore, slack }) => {
      const items = [...texts(), ...controls()];
      const problems = [];
      for (let i = 0; i < items.length; i++) {
        for (let j = i + 1; j < items.length; j++) {
          const [a, b] = [items[i], items[j]];
          if (a.element.contains(b.element) || b.element.contains(a.element)) continue;
          const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
          const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
          if (wide > slack && high > slack) problems.push(`“${a.text}” and “${b.text}” overlap`);
        }
      }
      return problems;

      function shown(element) {
        if (element.closest(ignore)) return false;
        return element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      }
      function texts() {
        const found = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const element = node.parentElement;
          if (!node.data.trim() || !shown(element)) continue;
          const range = document.createRange();
          range.selectNodeContents(node);
          const text = node.data.trim().slice(0, 40);
          for (const box of range.getClientRects()) add(found, element, clip(element, box), text);
        }
        return found;
      }
      function controls() {
        const found = [];
        const selector = "a[href], button, input, select, textarea, summary, [role=button]";
        for (const element of document.querySelectorAll(selector)) {
          if (!shown(element)) continue;
          const text = element.getAttribute("aria-label") ?? element.textContent.trim();
          add(found, element, clip(element, element.getBoundingClientRect()), text.slice(0, 40));
        }
        return found;
      }
      function add(found, element, box, text) {
        const big = box.right - box.left > 1 && box.bottom - box.top > 1;
        if (big) found.push({ element, box, text });
      }
      // What a scrolling or cutting box hides covers nothing.
      function clip(element, { left, top, right, bottom }) {
        const box = { left, top, right, bottom };
        for (let at = element; at && at !== document.body; at = at.parentElement) {
          if (getComputedStyle(at).overflowX === "visible") continue;
          const outer = at.getBoundingClientRect();
          box.left = Math.max(box.left, outer.left);
          box.top = Math.max(box.top, outer.top);
          box.right = Math.min(box.right, outer.right);
          box.bottom = Math.min(box.bottom, outer.bottom);
        }
        return box;
      }
    },
    { ignore, slack },
  );
}
