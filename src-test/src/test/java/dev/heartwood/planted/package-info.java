/**
 * Planted bugs: the engine with one deliberate fault, loaded beside the sound one, and the campaign that has to notice. This is
 * what shows that the campaigns can fail.
 *
 * <p>A fault is an edit of one method's code, made while the class is loaded by {@link
 * dev.heartwood.planted.PlantedEngine}; nothing in the engine knows of it. An edit that finds no place is a failure of its own.
 * Other edits only let a test act in the middle of a method.
 */
package dev.heartwood.planted;
