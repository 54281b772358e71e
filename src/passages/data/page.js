(function () {
  var texts = document.querySelectorAll('.text');
  var together = document.getElementById('together');
  var other = {a: 'b', b: 'a'};
  var box = {a: texts[0], b: texts[1]};
  var marks = {a: [], b: []};
  var moved = null;  // the text that was scrolled by this script
  var waiting = false;

  if (texts.length != 2)
    return;
  together.closest('p').hidden = false;
  ['a', 'b'].forEach(function (side) {
    marks[side] = [].slice.call(box[side].querySelectorAll('mark a[id]'));
  });

  function top(element, text) {
    return element.getBoundingClientRect().top - text.getBoundingClientRect().top;
  }

  // Scroll the other text to the passage that is nearest to the reader's eyes.
  function follow(side) {
    var from = box[side], to = box[other[side]], near = null, best = 1e9;

    marks[side].forEach(function (mark) {
      var distance = Math.abs(top(mark, from) - from.clientHeight / 3);

      if (distance < best) {
        best = distance;
        near = mark;
      }
    });
    moved = to;
    if (near && best < from.clientHeight)
      to.scrollTop += top(document.getElementById(near.hash.slice(1)), to) - top(near, from);
    else
      to.scrollTop = from.scrollTop / Math.max(1, from.scrollHeight - from.clientHeight) *
        (to.scrollHeight - to.clientHeight);
  }

  // To the next passage of the text, or the one before.
  function step(side, forward) {
    var at = marks[side].indexOf(document.activeElement);
    var mark;

    if (!marks[side].length)
      return;
    at = forward ? Math.min(at + 1, marks[side].length - 1) : Math.max(at - 1, 0);
    mark = marks[side][at];
    mark.focus({preventScroll: true});
    mark.scrollIntoView({block: 'center'});
  }

  ['a', 'b'].forEach(function (side) {
    box[side].addEventListener('scroll', function () {
      if (moved === box[side]) {
        moved = null;
        return;
      }
      if (!together.checked || waiting)
        return;
      waiting = true;
      requestAnimationFrame(function () {
        waiting = false;
        follow(side);
      });
    }, {passive: true});
    // single letters act in the texts alone
    box[side].addEventListener('keydown', function (event) {
      if ((event.key == 'n' || event.key == 'p') && !event.ctrlKey && !event.metaKey && !event.altKey)
        step(side, event.key == 'n');
    });
  });
})();
