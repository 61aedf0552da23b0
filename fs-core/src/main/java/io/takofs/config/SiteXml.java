package io.takofs.config;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.ErrorHandler;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;

/** Configuration files in Hadoop's XML form. Nothing outside the file is ever read. */
public final class SiteXml {
  private SiteXml() {}

  /** The properties of {@code file} in their order, values stripped of surrounding blanks. */
  public static List<Map.Entry<String, String>> read(Path file) throws IOException {
    Element root = parse(file).getDocumentElement();
    if (!root.getTagName().equals("configuration")) {
      throw malformed(file, "the root element is <" + root.getTagName() + ">", null);
    }
    List<Map.Entry<String, String>> properties = new ArrayList<>();
    for (Node node = root.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element element) {
        if (!element.getTagName().equals("property")) {
          throw malformed(file, "<configuration> holds <" + element.getTagName() + ">", null);
        }
        properties.add(property(file, element));
      }
    }
    return properties;
  }

  private static Map.Entry<String, String> property(Path file, Element property)
      throws TakoException {
    String name = text(property, "name");
    if (name == null || name.isEmpty()) {
      throw malformed(file, "a <property> has no <name>", null);
    }
    String value = text(property, "value");
    if (value == null) {
      throw malformed(file, "property " + name + " has no <value>", null);
    }
    return Map.entry(name, value);
  }

  private static String text(Element property, String tag) {
    for (Node node = property.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element element && element.getTagName().equals(tag)) {
        return element.getTextContent().strip();
      }
    }
    return null;
  }

  private static Document parse(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, file + " is a directory: name the configuration file in it");
    }
    try (InputStream in = Files.newInputStream(file)) {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      // No document type means no entities: nothing to expand and nothing to fetch.
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      factory.setXIncludeAware(false);
      factory.setExpandEntityReferences(false);
      DocumentBuilder builder = factory.newDocumentBuilder();
      builder.setErrorHandler(new Thrower());
      return builder.parse(in);
    } catch (NoSuchFileException e) {
      throw new TakoException(Status.NOT_FOUND, file + ": there is no such configuration file", e);
    } catch (SAXParseException e) {
      throw malformed(file, "line " + e.getLineNumber() + ": " + e.getMessage(), e);
    } catch (SAXException | ParserConfigurationException e) {
      throw malformed(file, e.getMessage(), e);
    }
  }

  private static TakoException malformed(Path file, String what, Exception cause) {
    return new TakoException(
        Status.INVALID_ARGUMENT,
        file
            + ": malformed configuration: "
            + what
            + "; expected <configuration> with <property><name/><value/></property>",
        cause);
  }

  /** {@code conf/tako-site.xml}: every key with its default, type and meaning. */
  static String render() {
    StringBuilder xml = new StringBuilder();
    xml.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.append("<!-- Every key of Tako at its default. Keep what you change, drop the rest.\n");
    xml.append("     A system property of the same name wins over this file. -->\n");
    xml.append("<configuration>\n");
    for (ConfigKey<?> key : ConfigKeys.all()) {
      xml.append("  <property>\n");
      xml.append("    <name>").append(key.name()).append("</name>\n");
      xml.append("    <value>").append(escape(key.defaultText())).append("</value>\n");
      xml.append("    <description>").append(escape(key.meaning())).append('\n');
      xml.append("      Type: ").append(key.type()).append("; ").append(escape(key.allowed()));
      xml.append(". Default: ");
      xml.append(key.defaultText().isEmpty() ? "empty" : escape(key.defaultText()));
      xml.append(".</description>\n");
      xml.append("  </property>\n");
    }
    return xml.append("</configuration>\n").toString();
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static final class Thrower implements ErrorHandler {
    @Override
    public void warning(SAXParseException e) {
      // The parser's warnings change no value.
    }

    @Override
    public void error(SAXParseException e) throws SAXException {
      throw e;
    }

    @Override
    public void fatalError(SAXParseException e) throws SAXException {
      throw e;
    }
  }
}
